/// One delivery of the outbox, or a dead letter, as a person is shown it.
package struct OutboxEntry: Sendable {
    /// Where it stands.
    package enum State: Sendable, Equatable {
        /// Its turn comes as soon as the sink takes it.
        case due
        /// It waits for its next attempt.
        case waiting(until: Instant)
        /// It is being attempted.
        case claimed
        /// It was given up.
        case dead(at: Instant)

        /// Whether it was given up.
        package var isDead: Bool { if case .dead = self { true } else { false } }
    }

    /// The journal's number of the delivery, by which commands name it.
    package var serial: UInt64
    /// What is delivered, with the key and the sink.
    package var delivery: Delivery
    /// Where it stands.
    package var state: State
    /// When it was accepted, or taken back from the dead letters.
    package var acceptedAt: Instant
    /// How often it was attempted since then.
    package var attempts: Int
    /// Whether others go past it, as it failed again and again while they did not.
    package var isAside: Bool
    /// Why the last attempt failed, or why it is dead.
    package var lastError: String?

    /// Creates an entry.
    package init(
        serial: UInt64, delivery: Delivery, state: State, acceptedAt: Instant, attempts: Int, isAside: Bool = false,
        lastError: String? = nil
    ) {
        self.serial = serial
        self.delivery = delivery
        self.state = state
        self.acceptedAt = acceptedAt
        self.attempts = attempts
        self.isAside = isAside
        self.lastError = lastError
    }
}

/// Which deliveries of the outbox a command means: those for which all that is given holds.
package struct OutboxSelection: Sendable, Equatable {
    /// The name of the sink.
    package var sink: String?
    /// The journal's numbers.
    package var serials: Set<UInt64>?
    /// Accepted at this instant or before.
    package var acceptedBy: Instant?
    /// Whether they are dead letters (true) or pending (false).
    package var isDead: Bool?

    /// Creates a selection; without anything it is all.
    package init(
        sink: String? = nil, serials: Set<UInt64>? = nil, acceptedBy: Instant? = nil, isDead: Bool? = nil
    ) {
        self.sink = sink
        self.serials = serials
        self.acceptedBy = acceptedBy
        self.isDead = isDead
    }
}

/// How many effects of one rule found no room in the share of a sink within one hour.
package struct OutboxFullCount: Sendable, Equatable {
    /// The name of the sink.
    package var sink: String
    /// The name of the rule; empty for briefings.
    package var rule: String
    /// When the hour began.
    package var hour: Instant
    /// How many effects.
    package var count: Int
    /// How many of them no notice has told yet.
    package var untold: Int

    /// Creates a count.
    package init(sink: String, rule: String, hour: Instant, count: Int, untold: Int) {
        self.sink = sink
        self.rule = rule
        self.hour = hour
        self.count = count
        self.untold = untold
    }
}
