internal import RelayCore

/// When a worker may attempt what, by how its attempts end: the delays of retries, and the pauses of the whole sink.
struct OutboxPace {
    private let policy: OutboxWorker.Policy
    private let inFlight: Int
    private var generator: any RandomNumberGenerator & Sendable
    /// How many attempts failed since one succeeded.
    private(set) var failuresInARow = 0
    /// Until when the whole sink pauses, as the service wants it.
    private(set) var askedUntil: Instant?
    /// Until when it pauses as all attempts fail.
    private var guessedUntil: Instant?
    /// How many pauses in a row had to be guessed.
    private var overruns = 0

    /// Creates the pace of a sink that takes so many attempts at a time.
    init(policy: OutboxWorker.Policy, inFlight: Int, generator: any RandomNumberGenerator & Sendable) {
        self.policy = policy
        self.inFlight = inFlight
        self.generator = generator
    }

    /// How many attempts may run: one, while all of them fail.
    var allowedAttempts: Int { failuresInARow > inFlight ? 1 : inFlight }

    /// Until when the whole sink pauses.
    var pausedUntil: Instant? {
        guard let askedUntil, let guessedUntil else { return askedUntil ?? guessedUntil }
        return max(askedUntil, guessedUntil)
    }

    /// Whether the sink pauses.
    func isPaused(at now: Instant) -> Bool { pausedUntil.map { $0 > now } ?? false }

    /// Notes an attempt that succeeded.
    mutating func succeed() {
        failuresInARow = 0
        overruns = 0
    }

    /// Notes an attempt that failed, and returns when the delivery may be attempted again.
    mutating func fail(
        attempt: Int, after: Duration?, trouble: Outcome.Trouble, at now: Instant
    ) -> Instant {
        failuresInARow += 1
        if let after {
            askedUntil = max(now + min(after, policy.longestPause), askedUntil ?? now)
        } else if trouble == .overrun, !isPaused(at: now) {
            // Attempts that ran beside the first say the same again.
            askedUntil = now + policy.overrunBackoff.delay(afterFailures: overruns, using: &generator)
            overruns += 1
        }
        // One delivery at a time is held back by its own retry already.
        if inFlight > 1, failuresInARow > inFlight {
            let failures = failuresInARow - inFlight - 1
            guessedUntil = now + policy.sinkBackoff.delay(afterFailures: failures, using: &generator)
        }
        let delay = policy.backoff.delay(afterFailures: attempt - 1, using: &generator)
        return max(now + delay, pausedUntil ?? now)
    }

    /// Forgets all pauses and failures, as the sink is started again.
    mutating func reset() {
        failuresInARow = 0
        overruns = 0
        askedUntil = nil
        guessedUntil = nil
    }
}
