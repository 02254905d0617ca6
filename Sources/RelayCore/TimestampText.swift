/// Instants as text, RFC 3339: read in every form that servers send, written in one.
package enum TimestampText {
    /// Returns the instant that `text` names, or nil if it is no date and time with an offset.
    ///
    /// Besides RFC 3339, section 5.6, it takes a space or lower-case letters for `T` and `Z`, an offset without a
    /// colon, `24:00:00` for the end of a day, and the second 60 on any minute. Fractions are cut to milliseconds.
    package static func parse(_ text: RawSpan) -> Instant? {
        let count = text.byteCount
        guard count >= 20 else { return nil }
        if let instant = parseUsual(text) { return instant }
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

    // Nearly all servers write `2030-01-02T03:04:05Z`, with or without three digits of a fraction. Its digits are worked
    // on as the bytes of three words.

    /// Returns the instant of text in that form, or nil for any other one.
    private static func parseUsual(_ text: RawSpan) -> Instant? {
        guard let time = usualTime(text), let day = usualDay(text) else { return nil }
        return Instant(milliseconds: Int64(day * 86_400_000 + time))
    }

    /// Returns the day, counted from 1970-01-01, with which text of at least 20 bytes begins.
    @inline(__always)
    static func usualDay(_ text: RawSpan) -> Int? {
        // What is left of "0000-00-" is the digits' values, and 0 for the rest.
        let date = word(text, 0) ^ 0x2D30_302D_3030_3030
        // A digit's value is at most 9: adding 6 does not reach the next four bits.
        let isDate = (date | (date &+ 0x0006_0600_0606_0606) & 0x00F0_F000_F0F0_F0F0) & 0xFFF0_F0FF_F0F0_F0F0 == 0
        guard isDate else { return nil }
        let days = date &* 10 &+ date >> 8
        let (year, month, day) = (part(days, 0) * 100 + part(days, 2), part(days, 5), twoDigits(text, 8))
        guard (1...12).contains(month), day >= 1, day <= 28 || day <= length(ofMonth: month, year: year)
        else { return nil }
        return dayNumber(year, month, day)
    }

    /// Returns the milliseconds of the day in text of that form; of the date it reads no more than that digits end it.
    @inline(__always)
    static func usualTime(_ text: RawSpan) -> Int? {
        let count = text.byteCount
        guard count == 20 || count == 24, byte(text, count - 1) == UInt8(ascii: "Z") else { return nil }
        // What is left of "00T00:00" and ":00".
        let time = word(text, 8) ^ 0x3030_3A30_3054_3030
        let seconds =
            UInt64(UInt32(littleEndian: text.unsafeLoadUnaligned(fromByteOffset: 16, as: UInt32.self)) & 0xFF_FFFF)
            ^ 0x30_303A
        let isTime = (time | (time &+ 0x0606_0006_0600_0606) & 0xF0F0_00F0_F000_F0F0) & 0xF0F0_FFF0_F0FF_F0F0 == 0
        let isSeconds = (seconds | (seconds &+ 0x06_0600) & 0xF0_F000) & 0xF0_F0FF == 0
        guard isTime, isSeconds else { return nil }
        // In each byte ten times the digit and the one behind it.
        let (hours, rest) = (time &* 10 &+ time >> 8, seconds &* 10 &+ seconds >> 8)
        let (hour, minute, second) = (part(hours, 3), part(hours, 6), part(rest, 1))
        guard hour < 24, minute < 60, second <= 60 else { return nil }
        var milliseconds = 0
        if count == 24 {
            let hundreds = Int(byte(text, 20) &- 48)
            let rest = twoDigits(text, 21)
            guard byte(text, 19) == UInt8(ascii: "."), hundreds < 10, rest >= 0 else { return nil }
            milliseconds = hundreds * 100 + rest
        }
        return (hour * 3600 + minute * 60 + second) * 1000 + milliseconds
    }

    /// Returns a byte of a word, counted from the first one in memory.
    @inline(__always)
    private static func part(_ word: UInt64, _ index: UInt64) -> Int { Int(word >> (index * 8) & 0xFF) }

    @inline(__always)
    static func word(_ text: RawSpan, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: text.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Appends `instant` in UTC: `2030-01-02T03:04:05Z`, or `2030-01-02T03:04:05.123Z` if there are milliseconds.
    ///
    /// Instants outside the years 0 to 9999, which RFC 3339 cannot write, are clamped to them.
    package static func append(_ instant: Instant, to bytes: inout [UInt8]) {
        var writer = TimestampWriter()
        bytes.append(addingCapacity: TimestampWriter.room) { writer.append(instant, to: &$0) }
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
        // One era more and one less, so that nothing is negative.
        let (era, yearOfEra) = UInt((month <= 2 ? year - 1 : year) + 400).quotientAndRemainder(dividingBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let daysOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100
        return (Int(era) - 1) * 146_097 + Int(daysOfEra) + dayOfYear - 719_468
    }
}
