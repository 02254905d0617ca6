/// The head of one frame: RFC 6455, section 5.2.
struct FrameHeader: Sendable, BitwiseCopyable {
    /// The longest head: two bytes, eight of length, four of mask.
    static let longest = 14

    /// Whether the frame ends its message.
    var isFinal: Bool
    /// What the frame carries.
    var opcode: Opcode
    /// The masking key with its first byte in the lowest bits; 0 for an unmasked frame, which changes nothing.
    var key: UInt32
    /// How many bytes the head has.
    var byteCount: Int
    /// How many bytes of payload follow it.
    var payloadCount: Int

    /// Reads the head that begins at `start`, or returns nil if the bytes up to `end` do not hold all of it.
    ///
    /// - Throws: `ProtocolFault` for whatever is wrong with the head by itself.
    @inline(__always)
    static func read(
        _ bytes: RawSpan, from start: Int, to end: Int, isMasked mustBeMasked: Bool
    ) throws(ProtocolFault) -> FrameHeader? {
        guard end - start >= 2 else { return nil }
        let first = bytes.unsafeLoad(fromByteOffset: start, as: UInt8.self)
        let second = bytes.unsafeLoad(fromByteOffset: start + 1, as: UInt8.self)
        guard first & 0x70 == 0 else { throw .violation("reserved bits set, but no extension agreed") }
        guard let opcode = Opcode(rawValue: first & 0x0F) else { throw .violation("reserved opcode \(first & 0x0F)") }
        guard (second & 0x80 != 0) == mustBeMasked else {
            throw .violation(mustBeMasked ? "unmasked frame from a client" : "masked frame from a server")
        }
        let isFinal = first & 0x80 != 0
        let shortLength = Int(second & 0x7F)
        if opcode.isControl {
            guard isFinal else { throw .violation("fragmented control frame") }
            guard shortLength <= 125 else { throw .violation("control frame of more than 125 bytes") }
        }
        let lengthBytes = shortLength < 126 ? 0 : shortLength == 126 ? 2 : 8
        let byteCount = 2 + lengthBytes + (mustBeMasked ? 4 : 0)
        guard end - start >= byteCount else { return nil }
        let payloadCount =
            lengthBytes == 0 ? shortLength : try longLength(bytes, at: start + 2, lengthBytes: lengthBytes)
        let key =
            mustBeMasked
            ? UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start + byteCount - 4, as: UInt32.self))
            : 0
        return FrameHeader(
            isFinal: isFinal, opcode: opcode, key: key, byteCount: byteCount, payloadCount: payloadCount)
    }

    @inline(__always)
    private static func longLength(
        _ bytes: RawSpan, at offset: Int, lengthBytes: Int
    ) throws(ProtocolFault) -> Int {
        if lengthBytes == 2 {
            let length = UInt16(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
            guard length >= 126 else { throw .violation("length not in its shortest form") }
            return Int(length)
        }
        let length = UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
        guard length > UInt16.max else { throw .violation("length not in its shortest form") }
        guard let length = Int(exactly: length) else { throw .violation("length with its highest bit set") }
        return length
    }
}
