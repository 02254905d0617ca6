/// Turns messages into frames: RFC 6455, section 5, one frame a message, no extensions.
///
/// A client masks every frame with a key of its own, drawn from a good source of randomness (section 5.3); a server
/// masks none and gives nil. The key's most significant byte comes first on the wire.
package enum FrameEncoder {
    /// The longest reason of a close frame in bytes: 125 without the code.
    package static let longestReason = 123
    /// The longest payload of a ping or a pong.
    package static let longestControl = 125

    /// Appends one whole frame to `output`.
    ///
    /// A control frame's payload is cut at 125 bytes, so that no frame breaks the protocol.
    package static func append(
        _ opcode: Opcode, _ payload: RawSpan, maskedWith mask: UInt32?, to output: inout [UInt8]
    ) {
        let count = opcode.isControl ? min(payload.byteCount, longestControl) : payload.byteCount
        appendHead(opcode, count, mask, to: &output)
        let start = output.count
        payload.extracting(first: count).withUnsafeBytes { output.append(contentsOf: $0) }
        guard let mask else { return }
        var span = output.mutableSpan
        var bytes = span.mutableBytes
        // The key as it lies on the wire, read with its first byte in the lowest bits.
        Masking.apply(mask.byteSwapped, to: &bytes, in: start..<(start + count))
    }

    /// Appends one whole frame to `output`.
    package static func append(
        _ opcode: Opcode, _ payload: [UInt8], maskedWith mask: UInt32?, to output: inout [UInt8]
    ) {
        append(opcode, payload.span.bytes, maskedWith: mask, to: &output)
    }

    /// Appends a text message.
    package static func appendText(_ text: String, maskedWith mask: UInt32?, to output: inout [UInt8]) {
        append(.text, Array(text.utf8), maskedWith: mask, to: &output)
    }

    /// Appends a binary message.
    package static func appendBinary(_ bytes: [UInt8], maskedWith mask: UInt32?, to output: inout [UInt8]) {
        append(.binary, bytes, maskedWith: mask, to: &output)
    }

    /// Appends a ping.
    package static func appendPing(_ payload: [UInt8], maskedWith mask: UInt32?, to output: inout [UInt8]) {
        append(.ping, payload, maskedWith: mask, to: &output)
    }

    /// Appends a pong, with the payload of the ping that it answers.
    package static func appendPong(_ payload: [UInt8], maskedWith mask: UInt32?, to output: inout [UInt8]) {
        append(.pong, payload, maskedWith: mask, to: &output)
    }

    /// Appends a close frame; the reason is cut to 123 bytes on the border of a character.
    ///
    /// Without a code, or with one that must not cross the wire such as 1006, the frame is empty.
    package static func appendClose(
        _ code: UInt16?, reason: String = "", maskedWith mask: UInt32?, to output: inout [UInt8]
    ) {
        var payload: [UInt8] = []
        if let code, CloseCode.mayBeSent(code) {
            payload = [UInt8(code >> 8), UInt8(code & 0xFF)]
            for character in reason {
                guard payload.count + character.utf8.count <= 2 + longestReason else { break }
                payload.append(contentsOf: character.utf8)
            }
        }
        append(.close, payload, maskedWith: mask, to: &output)
    }

    private static func appendHead(_ opcode: Opcode, _ count: Int, _ mask: UInt32?, to output: inout [UInt8]) {
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        output.append(0x80 | opcode.rawValue)
        switch count {
        case ..<126:
            output.append(maskBit | UInt8(count))
        case ...Int(UInt16.max):
            output.append(maskBit | 126)
            appendBigEndian(UInt64(count), bytes: 2, to: &output)
        default:
            output.append(maskBit | 127)
            appendBigEndian(UInt64(count), bytes: 8, to: &output)
        }
        if let mask { appendBigEndian(UInt64(mask), bytes: 4, to: &output) }
    }

    private static func appendBigEndian(_ value: UInt64, bytes: Int, to output: inout [UInt8]) {
        for index in (0..<bytes).reversed() {
            output.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index)))
        }
    }
}
