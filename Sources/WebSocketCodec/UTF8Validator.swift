/// Checks text for well-formed UTF-8 piece by piece, and finds a fault at the first byte that makes one.
///
/// The table is that of the Unicode Standard, chapter 3, table 3-7: no overlong forms, no surrogates, nothing
/// above U+10FFFF.
struct UTF8Validator: Sendable {
    /// How many bytes the open character still lacks.
    private var missing: UInt8 = 0
    /// The smallest value that its next byte may have.
    private var low: UInt8 = 0x80
    /// The largest value that its next byte may have.
    private var high: UInt8 = 0xBF

    /// Whether the text may end here: no character is open.
    var isComplete: Bool { missing == 0 }

    /// Takes the next bytes and returns whether the text can still become valid.
    mutating func accept(_ bytes: RawSpan) -> Bool {
        let count = bytes.byteCount
        var offset = isComplete ? Self.endOfASCII(bytes, from: 0) : 0
        while offset < count {
            let byte = bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            if missing == 0 {
                guard open(with: byte) else { return false }
                offset += 1
            } else {
                guard low <= byte, byte <= high else { return false }
                missing -= 1
                (low, high) = (0x80, 0xBF)
                offset += 1
                if missing == 0 { offset = Self.endOfASCII(bytes, from: offset) }
            }
        }
        return true
    }

    /// Begins a character, and returns whether `byte` can be its first one.
    private mutating func open(with byte: UInt8) -> Bool {
        switch byte {
        case 0...0x7F: return true
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, low) = (2, 0xA0)
        case 0xED: (missing, high) = (2, 0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, low) = (3, 0x90)
        case 0xF1...0xF3: missing = 3
        case 0xF4: (missing, high) = (3, 0x8F)
        default: return false
        }
        return true
    }

    /// Returns where the ASCII text that begins at `start` ends, give or take a word.
    private static func endOfASCII(_ bytes: RawSpan, from start: Int) -> Int {
        let count = bytes.byteCount
        let highBits: UInt64 = 0x8080_8080_8080_8080
        var offset = start
        // Four words a turn: one branch for 32 bytes.
        while count - offset >= 32 {
            let first = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let second = bytes.unsafeLoadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
            let third = bytes.unsafeLoadUnaligned(fromByteOffset: offset + 16, as: UInt64.self)
            let fourth = bytes.unsafeLoadUnaligned(fromByteOffset: offset + 24, as: UInt64.self)
            if (first | second | third | fourth) & highBits != 0 { break }
            offset += 32
        }
        while count - offset >= 8 {
            if bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self) & highBits != 0 { break }
            offset += 8
        }
        return offset
    }
}
