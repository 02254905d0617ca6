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

    /// Whether `bytes` are a whole text.
    static func isValid(_ bytes: RawSpan) -> Bool {
        if isASCII(bytes) { return true }
        var validator = UTF8Validator()
        return validator.accept(bytes) && validator.isComplete
    }

    /// Takes the next bytes and returns whether the text can still become valid.
    mutating func accept(_ bytes: RawSpan) -> Bool {
        let count = bytes.byteCount
        guard var offset = finishCharacter(bytes, from: 0) else { return false }
        while offset < count {
            let first = bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            if first < 0x80 {
                offset = Self.endOfASCII(bytes, from: offset)
                continue
            }
            guard let rule = Self.rule(for: first) else { return false }
            guard count - offset > rule.following else {
                (missing, low, high) = (rule.following, rule.low, rule.high)
                return finishCharacter(bytes, from: offset + 1) != nil
            }
            let second = bytes.unsafeLoad(fromByteOffset: offset + 1, as: UInt8.self)
            guard rule.low <= second, second <= rule.high else { return false }
            offset += 2
            for _ in 1..<rule.following {
                guard bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) & 0xC0 == 0x80 else { return false }
                offset += 1
            }
        }
        return true
    }

    /// Takes bytes of the open character, and returns where they end, or nil if one of them cannot be its.
    private mutating func finishCharacter(_ bytes: RawSpan, from start: Int) -> Int? {
        var offset = start
        while missing > 0, offset < bytes.byteCount {
            let byte = bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            guard low <= byte, byte <= high else { return nil }
            missing -= 1
            (low, high) = (0x80, 0xBF)
            offset += 1
        }
        return offset
    }

    /// Returns how many bytes follow the first byte of a character, and between which values the second one is.
    private static func rule(for first: UInt8) -> (following: UInt8, low: UInt8, high: UInt8)? {
        switch first {
        case 0xC2...0xDF: (1, 0x80, 0xBF)
        case 0xE0: (2, 0xA0, 0xBF)
        case 0xED: (2, 0x80, 0x9F)
        case 0xE1...0xEF: (2, 0x80, 0xBF)
        case 0xF0: (3, 0x90, 0xBF)
        case 0xF1...0xF3: (3, 0x80, 0xBF)
        case 0xF4: (3, 0x80, 0x8F)
        default: nil
        }
    }

    /// Whether all bytes are ASCII.
    ///
    /// The last words overlap the ones before them: a loop over the bytes that are left costs more than the rest.
    private static func isASCII(_ bytes: RawSpan) -> Bool {
        let count = bytes.byteCount
        guard count >= 32 else { return endOfASCII(bytes, from: 0) == count }
        var all = bytes.unsafeLoadUnaligned(fromByteOffset: count - 32, as: SIMD4<UInt64>.self)
        var offset = 0
        while offset < count - 32 {
            all |= bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
            offset += 32
        }
        let half = all.lowHalf | all.highHalf
        return (half[0] | half[1]) & 0x8080_8080_8080_8080 == 0
    }

    @inline(__always)
    private static func hasHighBit(_ bytes: RawSpan, inFourWordsFrom offset: Int) -> Bool {
        let first = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let second = bytes.unsafeLoadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
        let third = bytes.unsafeLoadUnaligned(fromByteOffset: offset + 16, as: UInt64.self)
        let fourth = bytes.unsafeLoadUnaligned(fromByteOffset: offset + 24, as: UInt64.self)
        return (first | second | third | fourth) & 0x8080_8080_8080_8080 != 0
    }

    /// Returns where the ASCII text that begins at `start` ends.
    private static func endOfASCII(_ bytes: RawSpan, from start: Int) -> Int {
        let count = bytes.byteCount
        let highBits: UInt64 = 0x8080_8080_8080_8080
        var offset = start
        // Four words a turn: one branch for 32 bytes.
        while count - offset >= 32, !hasHighBit(bytes, inFourWordsFrom: offset) { offset += 32 }
        while count - offset >= 8 {
            let word = UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
            if word & highBits != 0 { return offset + (word & highBits).trailingZeroBitCount / 8 }
            offset += 8
        }
        while offset < count, bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) < 0x80 { offset += 1 }
        return offset
    }
}
