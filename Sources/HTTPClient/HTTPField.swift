/// The grammar of header fields.
package enum HTTPField {
    /// Returns whether `name` is a token: RFC 9110, section 5.6.2.
    package static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy(isTokenByte)
    }

    /// Returns whether `value` may be sent: RFC 9110, section 5.5, without the obsolete forms.
    ///
    /// No control character but the tab, above all no line break, and no white space at the ends.
    package static func isValue(_ value: String) -> Bool {
        let bytes = value.utf8
        let isBlank = { (byte: UInt8?) in byte == 0x20 || byte == 0x09 }
        return !isBlank(bytes.first) && !isBlank(bytes.last)
            && bytes.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
