internal import RelayCore

/// Unix time as servers write it: seconds, with or without a fraction, or milliseconds.
enum UnixTimeText {
    /// From this number on (the year 5138 in seconds, 1973 in milliseconds) a number counts milliseconds.
    private static let leastMilliseconds: Int64 = 100_000_000_000
    /// The end of the year 9999, the last that RFC 3339 can write.
    private static let mostMilliseconds: Int64 = 253_402_300_799_999

    /// Returns the instant that the digits of `text` name, or nil; no floating number is made on the way.
    static func parse(_ text: RawSpan) -> Instant? {
        var whole: Int64 = 0
        var index = 0
        while index < text.byteCount, let digit = digit(text, index) {
            // Fifteen digits reach beyond the last year, and cannot overflow.
            guard index < 15 else { return nil }
            whole = whole * 10 + digit
            index += 1
        }
        guard index > 0, let fraction = fraction(text, at: index) else { return nil }
        let milliseconds = whole >= leastMilliseconds ? whole : whole * 1000 + fraction
        return milliseconds <= mostMilliseconds ? Instant(milliseconds: milliseconds) : nil
    }

    /// Returns the thousandths of the fraction with which the text ends, or nil if something else stands there.
    private static func fraction(_ text: RawSpan, at start: Int) -> Int64? {
        guard start < text.byteCount else { return 0 }
        guard text.unsafeLoad(fromByteOffset: start, as: UInt8.self) == UInt8(ascii: "."), start + 1 < text.byteCount
        else { return nil }
        var thousandths: Int64 = 0
        var unit: Int64 = 100
        for index in (start + 1)..<text.byteCount {
            guard let digit = digit(text, index) else { return nil }
            thousandths += digit * unit
            unit /= 10
        }
        return thousandths
    }

    private static func digit(_ text: RawSpan, _ index: Int) -> Int64? {
        let value = text.unsafeLoad(fromByteOffset: index, as: UInt8.self) &- 48
        return value < 10 ? Int64(value) : nil
    }
}
