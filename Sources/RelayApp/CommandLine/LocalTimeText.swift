internal import GLibRuntime
internal import RelayCore

/// Times as people write them on the command line.
enum LocalTimeText {
    /// What may be written, for messages.
    static let forms = "2026-03-29T02:30, 2026-03-29T02:30:00Z, 18:00 or tomorrow"

    /// Returns the instant that `text` means, or nil.
    ///
    /// Without an offset it is a time of `zone`; one that a change of the clocks leaves out moves forward by the gap, of
    /// two the first is meant. A time of day is the next one after `now`, `tomorrow` the next midnight.
    static func parse(_ text: String, now: Instant, zone: Zone = Zone()) -> Instant? {
        if let instant = TimestampText.parse(text.utf8Span.span.bytes) { return instant }
        let seconds = now.milliseconds / 1000
        let today = floorDay(seconds + zone.offset(at: seconds))
        if text == "tomorrow" { return instant(ofLocal: today + day, in: zone) }
        // The next time of day is today's or tomorrow's; read by the reader of timestamps, on a day of its own.
        if text.utf8.count == 5 {
            guard let time = local("1970-01-01T" + text) else { return nil }
            return [today + time, today + day + time].map { instant(ofLocal: $0, in: zone) }.first { $0 > now }
        }
        return local(text).map { instant(ofLocal: $0, in: zone) }
    }

    private static let day: Int64 = 86_400

    private static func instant(ofLocal seconds: Int64, in zone: Zone) -> Instant {
        Instant(milliseconds: zone.time(ofLocal: seconds) * 1000)
    }

    /// A date and time without an offset as seconds, as if it were in UTC; the seconds may be left out.
    private static func local(_ text: String) -> Int64? {
        let withSeconds = text.utf8.count == 16 ? text + ":00" : text
        guard let instant = TimestampText.parse((withSeconds + "Z").utf8Span.span.bytes) else { return nil }
        return instant.milliseconds / 1000
    }

    private static func floorDay(_ seconds: Int64) -> Int64 {
        let rest = seconds % day
        return seconds - (rest < 0 ? rest + day : rest)
    }
}
