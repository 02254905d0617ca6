/// Times as text.
package enum TimeText {
    /// Appends an instant as RFC 3339 in UTC, with milliseconds only if there are some.
    package static func appendUTC(_ instant: Instant, to bytes: inout [UInt8]) {
        let parts = Parts(milliseconds: instant.milliseconds)
        parts.appendDate(to: &bytes)
        bytes.append(UInt8(ascii: "T"))
        parts.appendMinute(to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        Parts.append(parts.milliseconds / 1000 % 60, digits: 2, to: &bytes)
        if parts.milliseconds % 1000 != 0 {
            bytes.append(UInt8(ascii: "."))
            Parts.append(parts.milliseconds % 1000, digits: 3, to: &bytes)
        }
        bytes.append(UInt8(ascii: "Z"))
    }

    /// Returns an instant as RFC 3339 in UTC, as bytes.
    package static func utc(_ instant: Instant) -> [UInt8] {
        var bytes: [UInt8] = []
        appendUTC(instant, to: &bytes)
        return bytes
    }

    /// A day of the Gregorian calendar and a time in it.
    private struct Parts {
        var year: Int
        var month: Int
        var day: Int
        var milliseconds: Int

        /// Splits a time; years beyond 0 to 9999, which no text form has, are shown as the nearest one.
        init(milliseconds: Int64) {
            let first: Int64 = -62_167_219_200_000
            let last: Int64 = 253_402_300_799_999
            let sinceYearZero = min(max(milliseconds, first), last) - first
            self.milliseconds = Int(sinceYearZero % 86_400_000)
            // Days since 0000-03-01, on which the four-year and 400-year cycles end with the leap day.
            let days = Int(sinceYearZero / 86_400_000) - 60 + 146_097
            let dayOfEra = days % 146_097
            let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
            let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
            let monthFromMarch = (5 * dayOfYear + 2) / 153
            day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
            month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
            year = yearOfEra + (days / 146_097 - 1) * 400 + (month <= 2 ? 1 : 0)
        }

        func appendDate(to bytes: inout [UInt8]) {
            Self.append(year, digits: 4, to: &bytes)
            bytes.append(UInt8(ascii: "-"))
            Self.append(month, digits: 2, to: &bytes)
            bytes.append(UInt8(ascii: "-"))
            Self.append(day, digits: 2, to: &bytes)
        }

        func appendMinute(to bytes: inout [UInt8]) {
            Self.append(milliseconds / 3_600_000, digits: 2, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            Self.append(milliseconds / 60_000 % 60, digits: 2, to: &bytes)
        }

        static func append(_ number: Int, digits: Int, to bytes: inout [UInt8]) {
            var divisor = digits == 4 ? 1000 : digits == 3 ? 100 : 10
            while divisor > 0 {
                bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
                divisor /= 10
            }
        }
    }
}
