package import RelayCore

/// The time that a server asks to be left alone: RFC 9110, section 10.2.3.
package enum RetryAfter {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads seconds, or a date such as `Sun, 06 Nov 1994 08:49:37 GMT` seen from `wallNow`.
    ///
    /// - Returns: never a negative time, and nil for what is neither, which counts as absent.
    package static func parse(_ text: String, wallNow: Instant) -> Duration? {
        let text = text.split(separator: " ").joined(separator: " ")
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number that is too large for the type is surely over any limit.
            return .seconds(min(Int64(text) ?? .max, 1 << 40))
        }
        return date(text).map { max(.zero, $0 - wallNow) }
    }

    private static func date(_ text: String) -> Instant? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2])),
            let day = number(words[1], digits: 2, in: 1...31), let year = number(words[3], digits: 4, in: 1970...9999)
        else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], digits: 2, in: 0...23),
            let minute = number(clock[1], digits: 2, in: 0...59), let second = number(clock[2], digits: 2, in: 0...60)
        else { return nil }
        let seconds = days(year: year, month: month + 1, day: day) * 86_400 + hour * 3600 + minute * 60 + second
        return Instant(milliseconds: Int64(seconds) * 1000)
    }

    /// The days from 1970-01-01, in years that begin in March so that a leap day comes last.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }

    private static func number(_ text: Substring, digits: Int, in range: ClosedRange<Int>) -> Int? {
        guard text.utf8.count == digits, let number = Int(text), text.first != "+", text.first != "-",
            range.contains(number)
        else { return nil }
        return number
    }
}
