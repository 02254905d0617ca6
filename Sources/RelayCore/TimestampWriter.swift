/// Writes instants as RFC 3339 in UTC, and remembers the day of the last one: those of a stream mostly share it.
package struct TimestampWriter: Sendable {
    /// The room that must be free for an instant.
    package static let room = 24

    /// The day that is remembered, counted from 1970-01-01, and its text: `2030-01-`, `02T`.
    private var day = Int.min
    private var yearAndMonth: UInt64 = 0
    private var dayOfMonth: UInt64 = 0

    /// Creates a writer.
    package init() {}

    /// Appends `instant`: `2030-01-02T03:04:05Z`, or `2030-01-02T03:04:05.123Z` if there are milliseconds.
    ///
    /// Instants outside the years 0 to 9999, which RFC 3339 cannot write, are clamped to them.
    package mutating func append(_ instant: Instant, to output: inout OutputSpan<UInt8>) {
        let total = min(max(instant.milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let (day, milliseconds) = Int(total).flooredQuotient(by: 86_400_000)
        if day != self.day { remember(day) }
        let (second, fraction) = UInt32(truncatingIfNeeded: milliseconds).quotientAndRemainder(dividingBy: 1000)
        // "DDTHH:MM", ":SS.mmmZ", each in memory order.
        let time =
            dayOfMonth | Self.pair(second / 3600) << 24 | UInt64(Self.colon) << 40
            | Self.pair(second / 60 % 60) << 48
        var rest = UInt64(Self.colon) | Self.pair(second % 60) << 8
        if fraction == 0 {
            rest |= UInt64(UInt8(ascii: "Z")) << 24
        } else {
            rest |= UInt64(UInt8(ascii: ".")) << 24 | UInt64(fraction / 100 + 48) << 32
            rest |= Self.pair(fraction % 100) << 40 | UInt64(UInt8(ascii: "Z")) << 56
        }
        let words = (yearAndMonth.littleEndian, time.littleEndian, rest.littleEndian)
        output.withUnsafeMutableBufferPointer { buffer, count in
            precondition(buffer.count - count >= Self.room, "an instant without room")
            let free = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
            free.storeBytes(of: words.0, as: UInt64.self)
            free.storeBytes(of: words.1, toByteOffset: 8, as: UInt64.self)
            free.storeBytes(of: words.2, toByteOffset: 16, as: UInt64.self)
            count += fraction == 0 ? 20 : 24
        }
    }

    private mutating func remember(_ day: Int) {
        let (year, month, dayOfMonth) = Self.date(ofDay: day)
        self.day = day
        yearAndMonth =
            Self.pair(UInt32(year / 100)) | Self.pair(UInt32(year % 100)) << 16 | UInt64(Self.dash) << 32
            | Self.pair(UInt32(month)) << 40 | UInt64(Self.dash) << 56
        self.dayOfMonth = Self.pair(UInt32(dayOfMonth)) | UInt64(UInt8(ascii: "T")) << 16
    }

    private static var dash: UInt8 { UInt8(ascii: "-") }
    private static var colon: UInt8 { UInt8(ascii: ":") }

    /// Returns the date that lies `number` days after 1970-01-01.
    ///
    /// Days are counted within eras of 400 years that begin in March, so that the leap day is the last of a year.
    private static func date(ofDay number: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = (number + 719_468).flooredQuotient(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    /// Returns two digits as they lie in memory.
    @inline(__always)
    private static func pair(_ number: UInt32) -> UInt64 {
        UInt64(number / 10 + 48) | UInt64(number % 10 + 48) << 8
    }
}

extension Int {
    /// Divides by a positive number so that the remainder is not negative.
    fileprivate func flooredQuotient(by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
