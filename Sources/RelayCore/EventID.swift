internal import GLibRuntime

/// The identity of an event within its stream, as 16 bytes that are equal when the ids are.
///
/// A UUID in any case gives its 16 bytes; any other text the first 16 bytes of its SHA-256.
@usableFromInline package struct EventID: Sendable, Hashable, BitwiseCopyable {
    /// The first eight bytes, in memory order.
    @usableFromInline package var high: UInt64
    /// The last eight bytes, in memory order.
    @usableFromInline package var low: UInt64

    /// Creates an id from its two halves.
    @inlinable package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates the identity of the id that is written `text`.
    ///
    /// A UUID (RFC 9562, section 4) may be in upper or lower case, and in braces.
    package init(text: RawSpan) {
        if let uuid = EventID(uuid: text) {
            self = uuid
        } else {
            self = EventID(digestOf: text)
        }
    }

    /// Creates an id from the 36 characters of a UUID or the 38 of one in braces; nil if `text` is neither.
    private init?(uuid text: RawSpan) {
        let start: Int
        switch text.byteCount {
        case 36: start = 0
        case 38:
            guard text.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == UInt8(ascii: "{"),
                text.unsafeLoad(fromByteOffset: 37, as: UInt8.self) == UInt8(ascii: "}")
            else { return nil }
            start = 1
        default: return nil
        }
        @inline(__always) func load<Word: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _: Word.Type) -> Word {
            Word(littleEndian: text.unsafeLoadUnaligned(fromByteOffset: start + offset, as: Word.self))
        }
        @inline(__always) func digits(_ first: Int, _ second: Int) -> UInt64 {
            UInt64(load(first, UInt32.self)) | UInt64(load(second, UInt32.self)) << 32
        }
        let hyphens =
            load(8, UInt8.self) ^ 45 | load(13, UInt8.self) ^ 45 | load(18, UInt8.self) ^ 45 | load(23, UInt8.self) ^ 45
        let (first, second) = (HexDigits(load(0, UInt64.self)), HexDigits(digits(9, 14)))
        let (third, fourth) = (HexDigits(digits(19, 24)), HexDigits(load(28, UInt64.self)))
        guard hyphens == 0, first.areValid, second.areValid, third.areValid, fourth.areValid else { return nil }
        self.init(
            high: (UInt64(first.value) | UInt64(second.value) << 32).littleEndian,
            low: (UInt64(third.value) | UInt64(fourth.value) << 32).littleEndian)
    }

    private init(digestOf text: RawSpan) {
        let digest = Checksum.sha256(text.withUnsafeBytes { Array($0) })
        let bytes = digest.span.bytes
        self.init(
            high: bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self),
            low: bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
}

/// Eight hexadecimal digits, the first in the lowest byte, worked on together as the bytes of one word.
private struct HexDigits {
    private let word: UInt64

    init(_ word: UInt64) {
        self.word = word
    }

    /// Whether all eight are digits.
    var areValid: Bool {
        // Adding 0x80 - x to a byte below 0x80 sets its high bit iff the byte is at least x.
        let low = word & ~Self.highBits
        let letters = low | Self.each(0x20)
        let isDigit = (low &+ Self.each(0x80 - 0x30)) & ~(low &+ Self.each(0x80 - 0x3A))
        let isLetter = (letters &+ Self.each(0x80 - 0x61)) & ~(letters &+ Self.each(0x80 - 0x67))
        return (isDigit | isLetter) & ~word & Self.highBits == Self.highBits
    }

    /// The four bytes they stand for, the first in the lowest byte.
    var value: UInt32 {
        // Bit 6 is set in letters only, whose low four bits lack nine.
        let nibbles = (word & Self.each(0x0F)) &+ 9 &* (word >> 6 & Self.each(1))
        let pairs = (nibbles << 4 | nibbles >> 8) & 0x00FF_00FF_00FF_00FF
        let quads = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: quads | quads >> 16)
    }

    private static var highBits: UInt64 { 0x8080_8080_8080_8080 }

    private static func each(_ byte: UInt64) -> UInt64 {
        byte &* 0x0101_0101_0101_0101
    }
}
