/// What one event asks of the journal, in one commit.
package struct Intake: Sendable {
    /// The event, compacted if the intake outlives its batch.
    package var event: Event
    /// The deliveries that its durable effects make, rendered.
    package var deliveries: [Delivery]

    /// Creates an intake.
    package init(event: Event, deliveries: [Delivery]) {
        self.event = event
        self.deliveries = deliveries
    }
}

/// What became of the deliveries of one intake, in their order.
package enum Acceptance: Sendable, Equatable {
    /// Stored, to be claimed by the sink's worker.
    case stored
    /// A delivery with the same key is in the journal: the event came twice.
    case duplicate
    /// The share of the sink is full: dead with the reason `outbox full`.
    case outboxFull
}

/// A delivery handed to a worker, with the right to attempt it until the lease ends.
package struct Claim: Sendable {
    /// What to deliver.
    package var delivery: Delivery
    /// The number of this attempt, from 1.
    package var attempt: Int
    /// When the delivery was accepted, for its age.
    package var acceptedAt: Instant
    /// The journal's name for this claim; a settlement with an old one is stale.
    package var token: UInt64

    /// Creates a claim.
    package init(delivery: Delivery, attempt: Int, acceptedAt: Instant, token: UInt64) {
        self.delivery = delivery
        self.attempt = attempt
        self.acceptedAt = acceptedAt
        self.token = token
    }
}

/// How a worker settles a claim.
package enum Settlement: Sendable, Equatable {
    /// Done for good.
    case delivered
    /// Not before this instant again.
    case retry(at: Instant, because: String)
    /// Given up: a dead letter.
    case dead(because: String)
    /// Not attempted after all: as if it had never been claimed.
    case released
}

/// A claim with what became of it.
package struct SettledClaim: Sendable {
    /// The claim.
    package var claim: Claim
    /// What became of it.
    package var settlement: Settlement

    /// Creates a settled claim.
    package init(_ claim: Claim, _ settlement: Settlement) {
        self.claim = claim
        self.settlement = settlement
    }
}

/// What a worker gets when it asks for work.
package struct ClaimBatch: Sendable {
    /// The claimed deliveries, in the order accepted.
    package var claims: [Claim]
    /// When the next unclaimed delivery of the sink is due, if none was due now; nil if there is none.
    package var nextDue: Instant?

    /// Creates a batch.
    package init(claims: [Claim], nextDue: Instant?) {
        self.claims = claims
        self.nextDue = nextDue
    }
}

/// The counters of one sink.
///
/// Always `effects == delivered + suppressed + pending + dead`.
package struct SinkCounters: Sendable, Equatable {
    /// All effects that named the sink.
    package var effects = 0
    /// Deliveries that the sink has.
    package var delivered = 0
    /// Effects that ended in a receipt.
    package var suppressed = 0
    /// Deliveries not settled yet.
    package var pending = 0
    /// Deliveries given up.
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
    /// Stores a group of intakes in one commit, all or nothing, and returns what became of each one's deliveries.
    ///
    /// - Throws: `JournalFailure` when nothing was stored.
    func accept(_ intakes: [Intake], at now: Instant) async throws(JournalFailure) -> [[Acceptance]]

    /// Claims up to `count` due deliveries of `sink`, in the order accepted, for `lease`.
    ///
    /// With `inOrder`, a delivery that waits for its retry holds back all behind it.
    func claim(sink: String, upTo count: Int, lease: Duration, inOrder: Bool, at now: Instant) async -> ClaimBatch

    /// Settles claims; a claim whose lease ended and which somebody else has is passed over.
    ///
    /// - Returns: how many of them were stale.
    @discardableResult
    func settle(_ settlements: [SettledClaim], at now: Instant) async -> Int

    /// Returns the counters by sink, of the effects that reached the journal.
    func counters() async -> [String: SinkCounters]

    /// Returns the bell that rings when deliveries of `sink` were stored, or released to be claimed again.
    func bell(for sink: String) async -> Doorbell

    /// Stores what is in memory only and closes. No other call follows.
    func close() async
}

/// Why the journal took no commit.
package enum JournalFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The disk takes no more.
    case full(String)
    /// Two different deliveries have one key, which is a bug of the relay.
    case conflictingKey(String)

    package var description: String {
        switch self {
        case .full(let reason): "the journal takes no commit: \(reason)"
        case .conflictingKey(let key): "two different deliveries have the key \(key)"
        }
    }
}
