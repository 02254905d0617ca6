/// What a frame carries: RFC 6455, section 5.2.
package enum Opcode: UInt8, Sendable, CaseIterable, BitwiseCopyable {
    /// The next part of a fragmented message.
    case continuation = 0
    /// A text message, or its first part.
    case text = 1
    /// A binary message, or its first part.
    case binary = 2
    /// The peer closes, or answers a close.
    case close = 8
    /// A question whether we live.
    case ping = 9
    /// The answer to a ping, or a sign of life.
    case pong = 10

    /// Whether the frame may stand between the parts of a message and is never a part itself.
    var isControl: Bool { rawValue >= 8 }
}
