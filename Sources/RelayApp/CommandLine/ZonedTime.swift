internal import GLibRuntime
internal import RelayCore

/// Times as people give them on a command line or in a file of expectations, and as they are shown: in a zone.
struct ZonedTime: Sendable {
    /// The zone of times without an offset, and of those that are shown.
    let zone: Zone

    /// Creates the times of a zone, without one of the system's.
    init(_ zone: Zone = Zone()) {
        self.zone = zone
    }

    /// Why a time without an offset means nothing here; nil if the zone is one of its own, or the system's is known.
    var fault: String? {
        guard zone.name.isEmpty, let fault = SystemZone.fault() else { return nil }
        return "a time without an offset is in the system's zone, and that is not known: "
            + Shown.printable(fault.description)
    }

    /// Whether a time needs no zone, as it has an offset.
    static func hasOffset(_ text: String) -> Bool { parse(text) != nil }

    /// What a time looks like, for messages.
    static let forms = "\"2026-03-29T02:30\", \"2026-03-29 02:30:15\" or, with an offset, \"2026-03-29T02:30:00+01:00\""

    /// Returns the instant that `text` names: RFC 3339, or a local date and time, with or without seconds.
    ///
    /// A local time that does not exist moves forward by the gap, of two the first is meant. A date alone is its beginning.
    func instant(_ text: String) -> Instant? {
        if let instant = Self.parse(text) { return instant }
        for rest in ["Z", ":00Z", "T00:00:00Z"] {
            guard let local = Self.parse(text + rest) else { continue }
            let (seconds, milliseconds) = Self.split(local)
            return Instant(milliseconds: zone.time(ofLocal: seconds) * 1000 + milliseconds)
        }
        return nil
    }

    /// Returns the instant that `text` names, as `instant` does, or the next time of day such as `18:00` after `now`;
    /// `tomorrow` is the next midnight.
    func coming(_ text: String, after now: Instant) -> Instant? {
        if let instant = instant(text) { return instant }
        let time = text == "tomorrow" ? "00:00" : text
        guard time.utf8.count == 5, let instant = Self.parse("1970-01-01T\(time):00Z") else { return nil }
        return DailyTimes(minutes: [Int(instant.milliseconds / 60_000)], zone: zone).next(after: now)
    }

    /// What a coming time looks like, for messages.
    static let comingForms = "\"18:00\", \"tomorrow\", \(forms)"

    /// Appends the local date and time with its offset, such as `2026-03-29 03:30:00+02:00`.
    func append(_ instant: Instant, to bytes: inout [UInt8]) {
        // RFC 3339 has four digits for a year; outside of them the clamped time in UTC must do.
        let clamped = min(max(instant.milliseconds, -62_135_596_800_000), 253_402_200_000_000)
        let offset = zone.offset(at: Self.split(Instant(milliseconds: clamped)).seconds)
        let start = bytes.count
        TimestampText.append(Instant(milliseconds: clamped + offset * 1000), to: &bytes)
        bytes[start + 10] = UInt8(ascii: " ")
        bytes.removeLast()
        let minutes = offset.magnitude / 60
        bytes.append(offset < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
        Self.appendTwoDigits(minutes / 60, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        Self.appendTwoDigits(minutes % 60, to: &bytes)
    }

    /// Returns the local date and time with its offset.
    func text(_ instant: Instant) -> String {
        var bytes: [UInt8] = []
        append(instant, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func appendTwoDigits(_ number: UInt64, to bytes: inout [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: number / 10 % 10 + 48))
        bytes.append(UInt8(truncatingIfNeeded: number % 10 + 48))
    }

    private static func parse(_ text: String) -> Instant? {
        let bytes = Array(text.utf8)
        return TimestampText.parse(bytes.span.bytes)
    }

    /// Whole seconds, rounded down, and the rest.
    private static func split(_ instant: Instant) -> (seconds: Int64, milliseconds: Int64) {
        let (quotient, remainder) = instant.milliseconds.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? (quotient - 1, remainder + 1000) : (quotient, remainder)
    }
}
