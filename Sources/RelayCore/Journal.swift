/// What one event asks of the journal, in one commit.
package struct Intake: Sendable {
    /// The event, compacted if the intake outlives its batch.
    package var event: Event
    /// The effects that are the journal's, in the order of their rules; their places are those of the plan in force.
    package var effects: [Effect]
    /// The other effects of the event, which only the history keeps: lines of standard output, and receipts.
    package var passed: [Effect]

    /// Creates an intake.
    package init(event: Event, effects: [Effect], passed: [Effect] = []) {
        self.event = event
        self.effects = effects
        self.passed = passed
    }
}

/// What became of one effect of an intake.
package enum Acceptance: Sendable, Equatable {
    /// A delivery was stored, to be claimed by the sink's worker.
    case stored
    /// It joined an open digest, which closes then.
    case gathered(until: Deadline)
    /// It joined the briefing of this time, which goes out when the time ends.
    case held(time: String, until: Instant)
    /// It ended in a receipt.
    case suppressed(Receipt)
    /// The share of the sink is full: dead with the reason `outbox full`.
    case outboxFull
}

/// How many effects of one rule and sink ended in a receipt of one kind.
package struct ReceiptCount: Sendable, Equatable {
    /// The name of the rule; empty for `unmatched`.
    package var rule: String
    /// The name of the sink, or `-`.
    package var sink: String
    /// The reason.
    package var receipt: Receipt
    /// How many.
    package var count: Int

    /// Creates a count.
    package init(rule: String, sink: String, receipt: Receipt, count: Int) {
        self.rule = rule
        self.sink = sink
        self.receipt = receipt
        self.count = count
    }
}

/// What the bounds of the journal's tables turned away.
package struct OverflowCounters: Sendable, Equatable {
    /// Effects that joined the group `others` of their rule, as no more groups could be opened.
    package var groups = 0
    /// Effects that were charged to the overflow key of their rule, as no more limit keys could be kept.
    package var limitKeys = 0
    /// Repeat keys that were forgotten before their time.
    package var repeatKeys = 0

    /// Creates counters that are all zero.
    package init() {}
}

/// The counters of one sink, in effects: a digest of seven counts seven.
///
/// Always `effects == delivered + suppressed + pending + dead`.
package struct SinkCounters: Sendable, Equatable {
    /// All effects that named the sink.
    package var effects = 0
    /// Effects whose deliveries the sink has.
    package var delivered = 0
    /// Effects that ended in a receipt.
    package var suppressed = 0
    /// Effects in open digests and briefings, and in deliveries not settled yet.
    package var pending = 0
    /// Effects whose deliveries were given up, or found no room.
    package var dead = 0

    /// Creates counters that are all zero.
    package init() {}

    /// Adds the counters of another way to the same sink.
    package mutating func add(_ other: SinkCounters) {
        effects += other.effects
        delivered += other.delivered
        suppressed += other.suppressed
        pending += other.pending
        dead += other.dead
    }

    /// The counters by name, for a log line.
    package var fields: [(name: String, value: String)] {
        [
            ("effects", String(effects)), ("delivered", String(delivered)), ("suppressed", String(suppressed)),
            ("pending", String(pending)), ("dead", String(dead)),
        ]
    }
}

/// Where accepted events and deliveries are kept: in memory or in SQLite.
///
/// The memory and the SQLite journal pass one contract suite.
package protocol Journal: Sendable {
    /// Puts a new plan in force, as a reload does.
    ///
    /// Limits and digests are kept by the name of their rule. Digests that the new plan has no place for close at once.
    func adopt(_ plan: EffectPlan, at now: Moment) async throws(JournalFailure)

    /// Stores a group of intakes in one commit, all or nothing, and returns what became of each one's effects.
    ///
    /// Digests and briefings that are due close first. The same commit saves how far the streams have come.
    ///
    /// - Throws: `JournalFailure` when nothing was stored.
    func accept(
        _ intakes: [Intake], progress: [StreamProgress], at now: Moment
    ) async throws(JournalFailure) -> [[Acceptance]]

    /// Returns how far a stream had come when the journal was opened: the identities it saw last, and its cursor.
    ///
    /// Nil if nothing of it was saved, as in a journal in memory.
    func savedProgress(of stream: String) async -> StreamProgress?

    /// Closes the digests and briefings that are due, and returns when the next ones are: the earliest of each clock.
    func advance(to now: Moment) async throws(JournalFailure) -> [Deadline]

    /// Adds a silence, from now on.
    func addSilence(_ matcher: Silence.Matcher, until: Instant, at now: Moment) async throws(SilenceFault) -> Silence

    /// Ends a silence; returns whether there was one.
    func removeSilence(_ id: UInt64, at now: Moment) async -> Bool

    /// Returns the silences that have not ended, oldest first.
    func silences(at now: Moment) async -> [Silence]

    /// Claims deliveries of a sink that are due, in the order accepted.
    ///
    /// A backlog that the request wants folded is folded in the same commit.
    func claim(_ request: ClaimRequest, at now: Instant) async -> ClaimBatch

    /// Settles claims; a claim whose lease ended and which somebody else has is passed over.
    ///
    /// - Returns: how many of them were stale.
    @discardableResult
    func settle(_ settlements: [SettledClaim], at now: Instant) async -> Int

    /// Gives up the pending deliveries of a sink that were accepted at `limit` or before, but for those that are claimed.
    ///
    /// For a sink that nobody claims for: one that is stopped, away, or no longer in the file.
    func giveUp(sink: String, acceptedBy limit: Instant, at now: Instant) async -> GivenUp

    /// Returns the pending deliveries and the dead letters of a selection, oldest first, at most `limit`.
    func outbox(_ selection: OutboxSelection, limit: Int) async -> [OutboxEntry]

    /// Moves the dead letters of a selection back to pending, as far as there is room; or, with `to`, makes them new
    /// effects of that sink and leaves them dead.
    ///
    /// With `to`, pending deliveries go too if they are named by serial or their sink is not in the plan. A sink that is
    /// not in the plan takes nothing, nor does one that holds the same event already.
    ///
    /// - Returns: how many deliveries were moved.
    func retry(_ selection: OutboxSelection, to sink: String?, at now: Instant) async throws(JournalFailure) -> Int

    /// Makes the pending deliveries of a selection dead (`dropped by hand`), and deletes the text of dead ones, which
    /// keep their place in the counters only; one that is claimed stays.
    ///
    /// - Returns: how many deliveries were dropped.
    func drop(_ selection: OutboxSelection, at now: Instant) async throws(JournalFailure) -> Int

    /// Returns what found no room in the outbox, by sink, rule and hour, the oldest first.
    func outboxFull() async -> [OutboxFullCount]

    /// Returns the counters by sink, of the effects that reached the journal.
    func counters() async -> [String: SinkCounters]

    /// Returns the receipts so far, by rule, sink and reason.
    func receipts() async -> [ReceiptCount]

    /// Returns what the bounds of the tables turned away.
    func overflows() async -> OverflowCounters

    /// Returns the bell that rings when deliveries of `sink` were stored, or released to be claimed again.
    func bell(for sink: String) async -> Doorbell

    /// Prepares for the end of the process, after the last intake.
    ///
    /// A journal that the process takes with it closes all digests and briefings now, so that they are still delivered.
    func finish(at now: Moment) async throws(JournalFailure)

    /// Stores what is in memory only and closes. No other call follows.
    func close() async
}

extension Journal {
    /// Stores intakes that bring no progress of a stream.
    package func accept(_ intakes: [Intake], at now: Moment) async throws(JournalFailure) -> [[Acceptance]] {
        try await accept(intakes, progress: [], at: now)
    }
}

/// Why the journal took no commit.
package enum JournalFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The disk takes no more.
    case full(String)
    /// The storage fails otherwise.
    case unavailable(String)
    /// Two different deliveries have one key, which is a bug of the relay.
    case conflictingKey(String)

    package var description: String {
        switch self {
        case .full(let reason), .unavailable(let reason): "the journal takes no commit: \(reason)"
        case .conflictingKey(let key): "two different deliveries have the key \(key)"
        }
    }
}
