internal import RelayCore

/// What a long try shows on a terminal: nothing in its first second, then how far it is, a few times a second.
struct Progress {
    /// Takes the line off the terminal.
    static let erasure = "\r\u{1b}[K"

    private static let patience = Duration.seconds(1)
    private static let interval = Duration.milliseconds(200)

    private let start: Instant
    /// How many events there are; nil if nobody knows.
    private let total: Int?
    private var shownAt: Instant?
    private var isUp = false

    /// Begins at an instant of relay time.
    init(at start: Instant, of total: Int? = nil) {
        self.start = start
        self.total = total
    }

    /// Returns what to write at `now`, if anything.
    mutating func line(events: Int, at now: Instant) -> String? {
        guard now - start >= Self.patience else { return nil }
        if let shownAt, now - shownAt < Self.interval { return nil }
        shownAt = now
        isUp = true
        let seconds = (now - start).components.seconds
        let part = total.map { "\(events) of \($0)" } ?? "\(events)"
        return "\(Self.erasure)\(part) events in \(seconds) s"
    }

    /// Whether a line stands on the terminal; it does not after this.
    mutating func takeDown() -> Bool {
        defer { isUp = false }
        return isUp
    }
}
