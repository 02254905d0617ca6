/// Why a peer's bytes are refused: the close code to answer with, and the reason in words.
package struct ProtocolFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// 1002 (protocol error), 1007 (no valid UTF-8) or 1009 (message too big): RFC 6455, section 7.4.1.
    package var code: UInt16
    /// What is wrong, short enough for the reason of a close frame.
    package var message: String

    package var description: String { "\(message) (close code \(code))" }

    static func violation(_ message: String) -> ProtocolFault {
        ProtocolFault(code: 1002, message: message)
    }

    static func notUTF8(_ what: String) -> ProtocolFault {
        ProtocolFault(code: 1007, message: "\(what) is not valid UTF-8")
    }

    static func tooBig(_ size: Int, limit: Int) -> ProtocolFault {
        ProtocolFault(
            code: 1009, message: "message of \(size) bytes or more, over the limit of \(limit) bytes (maxMessage)")
    }

    static func tooManyFragments(limit: Int) -> ProtocolFault {
        ProtocolFault(code: 1009, message: "message of more than \(limit) fragments")
    }
}
