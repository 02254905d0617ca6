internal import RelayCore

/// Writes the log lines of a catch-up.
struct CatchUpReporter {
    private let stream: String
    private let log: Log
    private var repeats = RepeatFilter(every: .seconds(3600))

    init(stream: String, log: Log) {
        self.stream = stream
        self.log = log
    }

    /// Tells that no page came, and when the next try is due.
    mutating func failed(_ ending: Ending, wait: Duration, at now: Instant) {
        var fields = [("reason", ending.reason), ("nextTry", DurationText.format(wait))]
        let what = "stream \(stream) could not fetch what it missed"
        switch repeats.verdict(on: ending.reason, at: now) {
        case .tell(let count):
            if count > 0 { fields.append(("repeats", "\(count)")) }
            log(.warning, "stream", what, fields)
        case .hush: log(.debug, "stream", what, fields)
        }
    }

    /// Tells what a catch-up brought, and what it did not.
    mutating func finished(_ result: CatchUpResult) {
        repeats.forget()
        let fields = [("events", "\(result.events)"), ("pages", "\(result.pages)")]
        guard let gap = result.gap else {
            return log(.info, "stream", "stream \(stream) has caught up", fields)
        }
        let what =
            "gap of \(GapLength.shown(gap.length)) on stream \(stream) could not be filled, events may be missing"
        log(.warning, "stream", what, [("reason", gap.reason)] + fields)
    }
}

/// The length of a gap as a person reads it.
enum GapLength {
    /// Returns whole seconds, at least one.
    static func shown(_ length: Duration) -> String {
        DurationText.format(.seconds(max(1, (min(length, longest).wholeMilliseconds + 500) / 1000)))
    }

    /// Longer than the times that servers write.
    private static let longest = Duration.seconds(400_000_000_000)
}
