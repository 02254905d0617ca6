/// Instants as text, RFC 3339: read in every form that servers send, written in one.
package enum TimestampText {
    /// Returns the instant that `text` names, or nil if it is no date and time with an offset.
    ///
    /// Besides RFC 3339, section 5.6, it takes a space or lower-case letters for `T` and `Z`, an offset without a
    /// colon, `24:00:00` for the end of a day, and the second 60 on any minute. Fractions are cut to milliseconds.
    package static func parse(_ text: RawSpan) -> Instant? {
        let count = text.byteCount
        guard count >= 20 else { return nil }
        let (century, yearOfCentury) = (twoDigits(text, 0), twoDigits(text, 2))
        let (month, day) = (twoDigits(text, 5), twoDigits(text, 8))
        let (hour, minute, second) = (twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17))
        let separator = byte(text, 10)
        guard byte(text, 4) == dash, byte(text, 7) == dash, byte(text, 13) == colon, byte(text, 16) == colon,
            separator | 0x20 == UInt8(ascii: "t") || separator == UInt8(ascii: " "),
            (century | yearOfCentury | month | day | hour | minute | second) >= 0
        else { return nil }
        let year = century * 100 + yearOfCentury
        guard (1...12).contains(month), day >= 1, day <= length(ofMonth: month, year: year), minute < 60, second <= 60
        else { return nil }
        guard let (milliseconds, end) = fraction(text, at: 19), let offset = offset(text, at: end) else { return nil }
        guard hour < 24 || (hour == 24 && minute == 0 && second == 0 && milliseconds == 0) else { return nil }
        let seconds = dayNumber(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        return Instant(milliseconds: Int64(seconds * 1000 + milliseconds))
    }

    /// Appends `instant` in UTC: `2030-01-02T03:04:05Z`, or `2030-01-02T03:04:05.123Z` if there are milliseconds.
    ///
    /// Instants outside the years 0 to 9999, which RFC 3339 cannot write, are clamped to them.
    package static func append(_ instant: Instant, to bytes: inout [UInt8]) {
        let total = min(max(instant.milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let (days, milliseconds) = Int(total).flooredQuotient(by: 86_400_000)
        let (second, fraction) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        let (year, month, day) = date(ofDay: days)
        // "YYYY-MM-", "DDTHH:MM", ":SS.mmmZ", each in memory order.
        var words = (
            pair(year / 100) | pair(year % 100) << 16 | UInt64(dash) << 32 | pair(month) << 40 | UInt64(dash) << 56,
            pair(day) | UInt64(UInt8(ascii: "T")) << 16 | pair(second / 3600) << 24 | UInt64(colon) << 40
                | pair(second / 60 % 60) << 48,
            UInt64(colon) | pair(second % 60) << 8
        )
        var count = 20
        if fraction == 0 {
            words.2 |= UInt64(UInt8(ascii: "Z")) << 24
        } else {
            words.2 |= UInt64(UInt8(ascii: ".")) << 24 | UInt64(fraction / 100 + 48) << 32
            words.2 |= pair(fraction % 100) << 40 | UInt64(UInt8(ascii: "Z")) << 56
            count = 24
        }
        words = (words.0.littleEndian, words.1.littleEndian, words.2.littleEndian)
        withUnsafeBytes(of: words) { bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Returns `instant` as `append` writes it.
    package static func format(_ instant: Instant) -> String {
        var bytes: [UInt8] = []
        append(instant, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static var dash: UInt8 { UInt8(ascii: "-") }
    private static var colon: UInt8 { UInt8(ascii: ":") }

    // Read for every event, digit by digit: calls would cost more than the work.

    @inline(__always)
    private static func byte(_ text: RawSpan, _ index: Int) -> UInt8 {
        text.unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }

    /// Returns the number that two digits make, or a negative one if they are none.
    @inline(__always)
    private static func twoDigits(_ text: RawSpan, _ index: Int) -> Int {
        let tens = byte(text, index) &- 48
        let ones = byte(text, index + 1) &- 48
        return tens < 10 && ones < 10 ? Int(tens) * 10 + Int(ones) : -1
    }

    /// Reads an optional fraction; returns its milliseconds and where it ends.
    private static func fraction(_ text: RawSpan, at start: Int) -> (milliseconds: Int, end: Int)? {
        guard byte(text, start) == UInt8(ascii: ".") else { return (0, start) }
        var index = start + 1
        var milliseconds = 0
        var unit = 100
        while index < text.byteCount, byte(text, index) &- 48 < 10 {
            milliseconds += Int(byte(text, index) &- 48) * unit
            unit /= 10
            index += 1
        }
        return index == start + 1 ? nil : (milliseconds, index)
    }

    /// Reads the offset with which the text must end; returns it in seconds.
    private static func offset(_ text: RawSpan, at start: Int) -> Int? {
        let count = text.byteCount
        guard start < count else { return nil }
        let sign = byte(text, start)
        if sign | 0x20 == UInt8(ascii: "z") { return start + 1 == count ? 0 : nil }
        guard sign == UInt8(ascii: "+") || sign == dash, count - start == 5 || count - start == 6 else { return nil }
        if count - start == 6, byte(text, start + 3) != colon { return nil }
        let (hours, minutes) = (twoDigits(text, start + 1), twoDigits(text, count - 2))
        guard (0..<24).contains(hours), (0..<60).contains(minutes) else { return nil }
        return (hours * 60 + minutes) * (sign == dash ? -60 : 60)
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    // Days are counted within eras of 400 years that begin in March, so that the leap day is the last of a year.

    /// Returns the number of days from 1970-01-01 to a date of the Gregorian calendar.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).flooredQuotient(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns the date that lies `number` days after 1970-01-01.
    private static func date(ofDay number: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = (number + 719_468).flooredQuotient(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    /// Returns two digits as they lie in memory.
    private static func pair(_ number: Int) -> UInt64 {
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
