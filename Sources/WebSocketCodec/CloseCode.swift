/// The rule which close codes may cross the wire: RFC 6455, section 7.4, with the registry's later 1012 to 1014.
package enum CloseCode {
    /// Returns whether a close frame may carry `code`.
    ///
    /// 1004 is reserved; 1005, 1006 and 1015 are for reports inside a program only.
    package static func mayBeSent(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
