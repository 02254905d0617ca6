internal import RelayCore

/// Writes the log lines of a stream: one for each change of state, repeats thinned.
struct StreamReporter {
    private let stream: String
    private let log: Log
    private var repeats = RepeatFilter(every: .seconds(3600))
    private var isRefused = false

    init(stream: String, log: Log) {
        self.stream = stream
        self.log = log
    }

    /// Tells that a dial begins.
    func dialling(_ cause: StreamMachine.DialCause, attempt: Int) {
        log(.debug, "stream", "stream \(stream) is dialled", [("cause", cause.rawValue), ("attempt", "\(attempt)")])
    }

    /// Tells that a connection opened after `attempts` dials.
    mutating func opened(_ place: String, attempts: Int) {
        log(.info, "stream", "stream \(stream) is connected", [("to", place), ("attempts", "\(attempts)")])
        isRefused = false
    }

    /// Tells that a connection held, so that a failure after it is a new one.
    mutating func held() {
        repeats.forget()
    }

    /// Tells of events that may be missing, since there is no catch-up.
    func gap(_ length: Duration) {
        log(.warning, "stream", "gap of \(GapLength.shown(length)) on stream \(stream), events may be missing")
    }

    /// Tells that the process was away and dials at once.
    func wasAway() {
        log(.info, "stream", "stream \(stream) did not outlive a suspend and is dialled at once")
    }

    /// Tells how a dial or a connection ended and when the next dial is due.
    mutating func ended(_ ending: Ending, wasOpen: Bool, isSlow: Bool, wait: Duration, at now: Instant) {
        let fields = [("reason", ending.reason), ("nextDial", DurationText.format(wait))]
        if isSlow, !isRefused {
            isRefused = true
            _ = repeats.verdict(on: ending.reason, at: now)
            let what = "stream \(stream) is refused; waiting for a new token, and dialling once in five minutes"
            return log(.error, "stream", what, fields)
        }
        let what = wasOpen ? "stream \(stream) lost its connection" : "stream \(stream) could not be connected"
        switch repeats.verdict(on: ending.reason, at: now) {
        case .tell(let count):
            log(.warning, "stream", what, fields + (count > 0 ? [("repeats", "\(count)")] : []))
        case .hush:
            log(.debug, "stream", what, fields)
        }
    }

    /// Tells that the file of the token changed.
    func tokenChanged() {
        log(.info, "stream", "the token file of stream \(stream) changed")
    }

    /// Tells of something that makes the stream less prompt and does not stop it.
    func lacks(_ what: String) {
        log(.warning, "stream", "stream \(stream): \(what)")
    }

    /// Tells that the stream stopped for good.
    func stopped() {
        log(.info, "stream", "stream \(stream) stopped")
    }
}
