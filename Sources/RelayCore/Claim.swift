/// What a worker asks the journal for.
package struct ClaimRequest: Sendable {
    /// The name of the sink.
    package var sink: String
    /// How many deliveries at most.
    package var count: Int
    /// How long the claims last.
    package var lease: Duration
    /// Whether one delivery goes at a time, and one that waits for its retry holds back all behind it.
    ///
    /// After five failures by a status 5xx or a time-out over a minute the next one is tried; if that succeeds, the
    /// failing one steps aside.
    package var inOrder: Bool
    /// When waiting deliveries are folded into digests; nil for never.
    package var backlog: BacklogPolicy?

    /// Creates a request.
    package init(
        sink: String, upTo count: Int = 1, lease: Duration, inOrder: Bool = false, backlog: BacklogPolicy? = nil
    ) {
        self.sink = sink
        self.count = count
        self.lease = lease
        self.inOrder = inOrder
        self.backlog = backlog
    }
}

/// When the deliveries of one rule that wait for a sink are folded into one digest a group.
///
/// Only what tells of one event and was never attempted is folded; digests and briefings are told as they are.
package struct BacklogPolicy: Sendable, Equatable {
    /// How many may wait.
    package var count: Int
    /// The age from which they count.
    package var age: Duration

    /// What popups are folded by: more than five that wait, however short.
    package static let desktop = BacklogPolicy(count: 5, age: .zero)

    /// The most events of a digest that a backlog is folded into.
    package static let mostEvents = 1000

    /// Creates a policy; the defaults are 50 deliveries that are five minutes old.
    package init(count: Int = 50, age: Duration = .seconds(300)) {
        self.count = count
        self.age = age
    }
}

/// A delivery handed to a worker, with the right to attempt it until the lease ends.
package struct Claim: Sendable {
    /// What to deliver.
    package var delivery: Delivery
    /// The journal's number of the delivery.
    package var serial: UInt64
    /// The number of this attempt, from 1.
    package var attempt: Int
    /// When the delivery was accepted, or taken back from the dead letters, for its age.
    package var acceptedAt: Instant
    /// The journal's name for this claim; a settlement with an old one is stale.
    package var token: UInt64

    /// Creates a claim.
    package init(delivery: Delivery, serial: UInt64, attempt: Int, acceptedAt: Instant, token: UInt64) {
        self.delivery = delivery
        self.serial = serial
        self.attempt = attempt
        self.acceptedAt = acceptedAt
        self.token = token
    }
}

/// How a worker settles a claim.
package enum Settlement: Sendable, Equatable {
    /// Done for good.
    case delivered
    /// Not before this instant again; `trouble` decides whether the delivery may step aside.
    case retry(at: Instant, because: String, trouble: Outcome.Trouble = .away)
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
    /// Until when the service wants nothing at all; nil if it said no such thing.
    package var pausedUntil: Instant?

    /// Creates a settled claim.
    package init(_ claim: Claim, _ settlement: Settlement, pausedUntil: Instant? = nil) {
        self.claim = claim
        self.settlement = settlement
        self.pausedUntil = pausedUntil
    }
}

/// What a worker gets when it asks for work.
package struct ClaimBatch: Sendable {
    /// The claimed deliveries, in the order accepted.
    package var claims: [Claim]
    /// When the next unclaimed delivery of the sink is due, if none was due now; nil if there is none.
    package var nextDue: Instant?
    /// The backlogs that were folded.
    package var folds: [Fold] = []

    /// A backlog that was folded.
    package struct Fold: Sendable, Equatable {
        /// The name of the rule.
        package var rule: String
        /// How many deliveries it was.
        package var deliveries: Int
        /// How many digests they became.
        package var digests: Int

        /// Creates a fold.
        package init(rule: String, deliveries: Int, digests: Int) {
            self.rule = rule
            self.deliveries = deliveries
            self.digests = digests
        }
    }

    /// Creates a batch.
    package init(claims: [Claim], nextDue: Instant?) {
        self.claims = claims
        self.nextDue = nextDue
    }
}

/// What was given up because of its age.
package struct GivenUp: Sendable, Equatable {
    /// How many deliveries.
    package var count: Int
    /// When the oldest delivery was accepted that is still pending; nil if there is none.
    package var oldest: Instant?

    /// Creates a result.
    package init(count: Int, oldest: Instant?) {
        self.count = count
        self.oldest = oldest
    }
}
