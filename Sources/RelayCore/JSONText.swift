/// Writes text as the inside of a JSON string.
///
/// Beyond what RFC 8259, section 7 demands it escapes what could move a terminal's cursor, reorder a line or break
/// a JavaScript string: DEL, the C1 controls, the line separators, the bidirectional controls and the byte order
/// mark. The text must be valid UTF-8.
@usableFromInline package enum JSONText {
    /// The most bytes that one byte can become: an ASCII control character as `\u001f`.
    package static let mostBytesPerByte = 6

    /// Appends `utf8` without the quotes around it.
    package static func append(_ utf8: RawSpan, to bytes: inout [UInt8]) {
        // With no room asked for, the standard library writes the count of the empty array that all threads share.
        guard utf8.byteCount > 0 else { return }
        bytes.append(addingCapacity: longestCount(of: utf8)) { write(utf8, to: &$0) }
    }

    /// Appends `utf8` without the quotes around it.
    package static func append(_ utf8: [UInt8], to bytes: inout [UInt8]) {
        append(utf8.span.bytes, to: &bytes)
    }

    /// Appends `text` without the quotes around it.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        append(text.utf8Span.span.bytes, to: &bytes)
    }

    /// Whether `utf8` is ASCII without anything that must be escaped, so that it can be copied as it is.
    @inlinable
    package static func isPlain(_ utf8: RawSpan) -> Bool {
        let count = utf8.byteCount
        guard count >= 16 else { return isPlain(short: utf8) }
        var flags = SIMD2<UInt64>()
        var index = 0
        while index < count - 16 {
            flags |= special(in: utf8.unsafeLoadUnaligned(fromByteOffset: index, as: SIMD2<UInt64>.self))
            index += 16
        }
        // The last words overlap the ones before them, which does no harm here.
        flags |= special(in: utf8.unsafeLoadUnaligned(fromByteOffset: count - 16, as: SIMD2<UInt64>.self))
        return flags[0] | flags[1] == 0
    }

    @inlinable
    static func isPlain(short utf8: RawSpan) -> Bool {
        let count = utf8.byteCount
        if count >= 8 {
            let first = utf8.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self)
            let last = utf8.unsafeLoadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            return special(in: first) | special(in: last) == 0
        }
        guard count >= 4 else {
            // What is not filled must not count as a control character.
            var word = 0x2020_2020_2020_2020 as UInt64
            for index in 0..<count {
                word = word << 8 | UInt64(utf8.unsafeLoad(fromByteOffset: index, as: UInt8.self))
            }
            return special(in: word) == 0
        }
        let first = UInt64(utf8.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self))
        let last = UInt64(utf8.unsafeLoadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
        return special(in: first | last << 32) == 0
    }

    /// Returns how many bytes `write` may need: the exact number for plain ASCII, else the most that can be.
    package static func longestCount(of utf8: RawSpan) -> Int {
        isPlain(utf8) ? utf8.byteCount : utf8.byteCount * mostBytesPerByte
    }

    /// Writes `utf8` without the quotes around it into `output`, which must have room for `longestCount(of:)`.
    package static func write(_ utf8: RawSpan, to output: inout OutputSpan<UInt8>) {
        var index = 0
        while true {
            let end = plainEnd(of: utf8, from: index)
            output.append(copying: utf8.extracting(index..<end))
            guard end < utf8.byteCount else { return }
            let length = scalarLength(of: utf8, at: end)
            if let unit = escapedUnit(of: utf8.extracting(end..<(end + length))) {
                escape(unit, to: &output)
            } else {
                output.append(copying: utf8.extracting(end..<(end + length)))
            }
            index = end + length
        }
    }

    /// Returns where the first byte at or after `start` is that is not plain ASCII, eight bytes at a time.
    private static func plainEnd(of utf8: RawSpan, from start: Int) -> Int {
        var index = start
        let lastWord = utf8.byteCount - 8
        while index <= lastWord {
            let flags = special(in: utf8.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian)
            if flags != 0 { return index + flags.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < utf8.byteCount {
            let byte = utf8.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            if byte < 0x20 || byte >= 0x7f || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return index }
            index += 1
        }
        return index
    }

    /// Sets the top bit of every byte of `word` that is a control character, a quote, a backslash or not ASCII.
    @inlinable @inline(__always)
    static func special(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let low = word & (ones &* 0x7f)
        // Each sum has its top bit set unless the byte is below 0x20, or equal to the one it was compared with.
        let aboveControls = low &+ (ones &* 0x60)
        let notQuote = (low ^ (ones &* 0x22)) &+ (ones &* 0x7f)
        let notBackslash = (low ^ (ones &* 0x5c)) &+ (ones &* 0x7f)
        let notDelete = (low ^ (ones &* 0x7f)) &+ (ones &* 0x7f)
        return (word | ~(aboveControls & notQuote & notBackslash & notDelete)) & (ones &* 0x80)
    }

    /// The same for two words at once.
    @inlinable @inline(__always)
    static func special(in words: SIMD2<UInt64>) -> SIMD2<UInt64> {
        func each(_ byte: UInt64) -> SIMD2<UInt64> { SIMD2(repeating: byte &* 0x0101_0101_0101_0101) }
        let low = words & each(0x7f)
        let aboveControls = low &+ each(0x60)
        let notQuote = (low ^ each(0x22)) &+ each(0x7f)
        let notBackslash = (low ^ each(0x5c)) &+ each(0x7f)
        let notDelete = (low ^ each(0x7f)) &+ each(0x7f)
        return (words | ~(aboveControls & notQuote & notBackslash & notDelete)) & each(0x80)
    }

    /// The number of bytes of the scalar at `index`, never past the end.
    private static func scalarLength(of utf8: RawSpan, at index: Int) -> Int {
        let lead = utf8.unsafeLoad(fromByteOffset: index, as: UInt8.self)
        return min(lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4, utf8.byteCount - index)
    }

    /// The code unit of a scalar that must be escaped, else nil.
    private static func escapedUnit(of scalar: RawSpan) -> UInt16? {
        func continuation(_ index: Int) -> UInt16 {
            UInt16(scalar.unsafeLoad(fromByteOffset: index, as: UInt8.self) & 0x3f)
        }
        let lead = UInt16(scalar.unsafeLoad(fromByteOffset: 0, as: UInt8.self))
        switch scalar.byteCount {
        case 1: return lead < 0x80 ? lead : nil
        case 2:
            let unit = (lead & 0x1f) << 6 | continuation(1)
            return unit.isHiddenControl ? unit : nil
        case 3:
            let unit = (lead & 0x0f) << 12 | continuation(1) << 6 | continuation(2)
            return unit.isHiddenControl ? unit : nil
        default: return nil
        }
    }

    private static func escape(_ unit: UInt16, to output: inout OutputSpan<UInt8>) {
        output.append(UInt8(ascii: "\\"))
        if unit == 0x22 || unit == 0x5c { return output.append(UInt8(truncatingIfNeeded: unit)) }
        output.append(UInt8(ascii: "u"))
        var rest = unit
        for _ in 0..<4 {
            let digit = UInt8(truncatingIfNeeded: rest >> 12)
            output.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            rest <<= 4
        }
    }
}

extension UInt16 {
    /// Whether a scalar must not reach a terminal or a log as it is: DEL and C1 controls, line separators,
    /// bidirectional controls, the byte order mark. (C0 is for the caller to decide: a newline may be wanted.)
    package var isHiddenControl: Bool {
        switch self {
        case 0x7f...0x9f, 0x61c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: true
        default: false
        }
    }
}

extension OutputSpan<UInt8> {
    /// Appends a copy of `bytes`, for which there must be room.
    @inlinable @inline(__always)
    package mutating func append(copying bytes: RawSpan) {
        guard !bytes.isEmpty else { return }
        withUnsafeMutableBufferPointer { buffer, count in
            let free = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
            bytes.withUnsafeBytes { free.copyMemory(from: $0) }
            count += bytes.byteCount
        }
    }

    /// Appends the text of a literal, for which there must be room.
    @inlinable @inline(__always)
    package mutating func append(copying literal: StaticString) {
        withUnsafeMutableBufferPointer { buffer, count in
            let free = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
            free.copyMemory(
                from: UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
            count += literal.utf8CodeUnitCount
        }
    }
}
