/// Reads the hint of a server that asks to wait: the header field `Retry-After` (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// Returns how long to wait, at most `limit`, or nil if `text` is neither a number of seconds nor a date.
    ///
    /// Fractions of a second are taken, since servers send them. A date that has passed gives zero. Any text is
    /// allowed; nonsense and negative numbers count as no hint.
    package static func parse(
        _ text: String, at wallNow: Instant, atMost limit: Duration = .seconds(3600)
    ) -> Duration? {
        // Longer than any number or date; keeps what follows from working on a header of any length.
        guard text.utf8.count <= 64 else { return nil }
        if let duration = seconds(trimmed(text)) { return min(duration, limit) }
        guard let date = date(text, at: wallNow) else { return nil }
        return min(max(date - wallNow, .zero), limit)
    }

    /// Returns the instant of an HTTP date, or nil if `text` is none: RFC 9110, section 5.6.7, with both obsolete forms.
    ///
    /// `wallNow` decides the century of a year with two digits.
    package static func date(_ text: String, at wallNow: Instant) -> Instant? {
        let words = text.utf8.split { $0 == 0x20 || $0 == 0x09 }.map { String(Substring($0)) }
        guard let dayName = words.first, isDayName(dayName) else { return nil }
        switch words.count {
        case 6:  // Sun, 06 Nov 1994 08:49:37 GMT
            guard words[5] == "GMT", words[1].utf8.count == 2, words[3].utf8.count == 4 else { return nil }
            return instant(day: words[1], month: words[2], year: words[3], time: words[4])
        case 5:  // Sun Nov  6 08:49:37 1994
            guard words[4].utf8.count == 4 else { return nil }
            let day = words[2].utf8.count == 1 ? "0" + words[2] : words[2]
            return instant(day: day, month: words[1], year: words[4], time: words[3])
        case 4:  // Sunday, 06-Nov-94 08:49:37 GMT
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
            guard words[3] == "GMT", parts.count == 3, let year = year(parts[2], near: wallNow) else { return nil }
            return instant(day: parts[0], month: parts[1], year: year, time: words[2])
        default: return nil
        }
    }

    private static func trimmed(_ text: String) -> Substring {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let start = text.drop(while: isBlank)
        guard let end = start.lastIndex(where: { !isBlank($0) }) else { return start }
        return start[...end]
    }

    private static func seconds(_ text: Substring) -> Duration? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isDigit) }), let whole = parts.first else { return nil }
        // More digits than fit mean a wait without end, which the limit cuts; a year keeps the sum in range.
        let seconds = Int64(String(Substring(whole))).map { min($0, 31_536_000) } ?? 31_536_000
        guard parts.count == 2 else { return .seconds(seconds) }
        let padded = (Array(parts[1].prefix(3)) + [0x30, 0x30, 0x30]).prefix(3)
        let milliseconds = padded.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
        // What is beyond milliseconds is rounded up, so that the wait is never too short.
        let rest: Int64 = parts[1].dropFirst(3).contains { $0 != 0x30 } ? 1 : 0
        return .seconds(seconds) + .milliseconds(milliseconds + rest)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isDayName(_ word: String) -> Bool {
        let names = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
        let name = word.hasSuffix(",") ? String(word.dropLast()) : word
        return names.contains { $0 == name || $0.prefix(3) == name }
    }

    /// The year that `digits` mean: of the two digits' years the one that lies at most 50 years ahead.
    private static func year(_ digits: String, near wallNow: Instant) -> String? {
        guard digits.utf8.count == 2, digits.utf8.allSatisfy(isDigit), let short = Int(digits),
            let now = Int(TimestampText.format(wallNow).prefix(4))
        else { return nil }
        var year = now - now % 100 + short
        if year > now + 50 { year -= 100 }
        let text = String(max(year, 0))
        return String(repeating: "0", count: max(0, 4 - text.utf8.count)) + text
    }

    private static func instant(day: String, month: String, year: String, time: String) -> Instant? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard let index = months.firstIndex(of: month), time.utf8.count == 8, day.utf8.count == 2 else { return nil }
        let number = index < 9 ? "0\(index + 1)" : "\(index + 1)"
        let timestamp = "\(year)-\(number)-\(day)T\(time)Z"
        return TimestampText.parse(timestamp.utf8Span.span.bytes)
    }
}
