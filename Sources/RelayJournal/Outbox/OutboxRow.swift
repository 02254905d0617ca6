package import RelayCore

/// What the outbox knows of one delivery beside what is delivered: a row of any journal.
package struct OutboxRow: Sendable, Equatable {
    /// Where the delivery stands.
    package enum State: Sendable, Equatable {
        /// To be claimed now.
        case due
        /// Not before this instant.
        case waiting(until: Instant)
        /// With a worker, until the lease ends.
        case claimed(until: Instant)
        /// A dead letter.
        case dead(at: Instant)
        /// No longer in the outbox, whose text need not be kept.
        case ended(Ending, at: Instant)
    }

    /// How a delivery left the outbox.
    package enum Ending: Sendable, Equatable {
        /// The sink has it.
        case delivered
        /// The digest with this serial tells of it.
        case folded(into: UInt64)
        /// It is dead, and its text was deleted.
        case forgotten
    }

    /// Its number, from the counter of the ledger.
    package var serial: UInt64
    /// Its place in the order: its serial, or that of the last delivery that was folded into it.
    package var place: UInt64
    /// The key of the delivery.
    package var key: String
    /// The name of the rule; empty for a briefing.
    package var rule: String
    /// How many effects it carries.
    package var effects: Int
    /// The bytes it is charged.
    package var byteCount: Int
    /// When it was accepted, or taken back from the dead letters.
    package var acceptedAt: Instant
    /// Where it stands.
    package var state = State.due
    /// How often it was claimed, without claims that were released.
    package var attempts = 0
    /// How many claims in a row ended without a settlement.
    package var unsettledClaims = 0
    /// Whether it holds others back no more, as it failed again and again while they did not.
    package var isAside = false
    /// Whether it may be folded: it tells of one event, was never attempted, and no fold has left it alone.
    package var isFoldable: Bool
    /// Whether it is dead as another sink got it.
    package var isMoved = false
    /// Why the last attempt failed, or why it is dead.
    package var lastError: String?

    /// Creates the row of a delivery that is to be stored.
    package init(_ delivery: Delivery, serial: UInt64, place: UInt64? = nil, at now: Instant) {
        self.serial = serial
        self.place = place ?? serial
        key = delivery.key
        rule = delivery.notice.rule
        effects = delivery.effects
        byteCount = delivery.byteCount
        acceptedAt = now
        isFoldable = if case .event = delivery.content { true } else { false }
    }

    /// Creates a row as it was stored.
    package init(
        serial: UInt64, place: UInt64, key: String, rule: String, effects: Int, byteCount: Int, acceptedAt: Instant,
        isFoldable: Bool
    ) {
        self.serial = serial
        self.place = place
        self.key = key
        self.rule = rule
        self.effects = effects
        self.byteCount = byteCount
        self.acceptedAt = acceptedAt
        self.isFoldable = isFoldable
    }

    /// Whether the sink may still get it.
    package var isPending: Bool {
        switch state {
        case .due, .waiting, .claimed: true
        case .dead, .ended: false
        }
    }

    /// Whether it is a dead letter.
    package var isDead: Bool { if case .dead = state { true } else { false } }

    /// Whether a worker has it.
    package var isClaimed: Bool { if case .claimed = state { true } else { false } }

    /// Whether it left the outbox.
    package var isEnded: Bool { if case .ended = state { true } else { false } }
}

extension OutboxSelection {
    /// Whether a delivery of `sink` is meant.
    package func covers(_ row: OutboxRow, of sink: String) -> Bool {
        if let wanted = self.sink, wanted != sink { return false }
        if let serials, !serials.contains(row.serial) { return false }
        if let acceptedBy, row.acceptedAt > acceptedBy { return false }
        if let isDead, isDead != row.isDead { return false }
        return true
    }
}
