package import RelayCore

/// A recorded event with what became of it.
package struct HistoryEntry: Sendable {
    /// Its number, in the order of receipt, from 1; 0 if it is not recorded.
    package var number: UInt64
    /// When it was received, by the wall clock.
    package var receivedAt: Instant
    /// The event, of which the history keeps 16 KiB of text; nil if its row is damaged.
    package var event: Event?
    /// Its effects, in the order of their rules.
    package var effects: [EffectStory]

    /// Creates an entry.
    package init(number: UInt64, receivedAt: Instant, event: Event?, effects: [EffectStory]) {
        self.number = number
        self.receivedAt = receivedAt
        self.event = event
        self.effects = effects
    }
}

/// What became of one effect.
package struct EffectStory: Sendable, Equatable {
    /// A digest or a briefing that an effect was in.
    package struct Gathered: Sendable, Equatable {
        /// The serial of the digest or briefing.
        package var serial: UInt64
        /// Whether it is a briefing.
        package var isBriefing: Bool
        /// When it closed; nil if it is open, or if that is not known any more.
        package var closedAt: Instant?
    }

    /// Where an effect ended, or where it is.
    package enum Fate: Sendable, Equatable {
        /// It went to its sink without the journal, as a line of standard output does.
        case passed
        /// It ended in a receipt.
        case receipt(Receipt)
        /// The share of its sink was full: it is dead.
        case outboxFull
        /// It waits in an open digest or briefing.
        case open
        /// A delivery tells of it: the last one, if it was folded with others.
        case delivery(DeliveryStory)
        /// What became of it is not in the history any more.
        case forgotten
    }

    /// The name of the rule; empty if no rule matched.
    package var rule: String
    /// The name of the sink, or `-`.
    package var sink: String
    /// The digests and briefings that it was in, in that order.
    package var gathered: [Gathered] = []
    /// Where it ended.
    package var fate: Fate

    /// Creates the story of an effect.
    package init(rule: String, sink: String, gathered: [Gathered] = [], fate: Fate) {
        self.rule = rule
        self.sink = sink
        self.gathered = gathered
        self.fate = fate
    }

    /// The fate in one word.
    package var outcome: HistoryOutcome {
        switch fate {
        case .passed: .passed
        case .receipt: .suppressed
        case .outboxFull: .dead
        case .open: .pending
        case .forgotten: .forgotten
        case .delivery(let delivery):
            switch delivery.row.state {
            case .due, .waiting, .claimed: .pending
            case .dead, .ended(.forgotten, _): .dead
            case .ended(.delivered, _): .delivered
            case .ended(.folded, _): .forgotten
            }
        }
    }
}

/// A delivery as the history knows it: without what was delivered.
package struct DeliveryStory: Sendable, Equatable {
    /// The name of the sink.
    package var sink: String
    /// Its key, attempts, error and state.
    package var row: OutboxRow
    /// The serials of the deliveries that were folded into it on the way to this effect.
    package var folded: [UInt64] = []
}

/// What an effect came to, in one word.
package enum HistoryOutcome: String, Sendable, CaseIterable {
    case passed, delivered, suppressed, pending, dead, forgotten
}

/// Which events of the history are meant: those for which all that is given holds.
package struct HistoryFilter: Sendable {
    /// Received at this instant or after.
    package var since: Instant?
    /// Received before this instant.
    package var until: Instant?
    /// The kind, as it came.
    package var kind: String?
    /// The actor, compared as in conditions.
    package var actor: String?
    /// The stream.
    package var stream: String?
    /// The rule of one of its effects.
    package var rule: String?
    /// The sink of the same effect.
    package var sink: String?
    /// What the same effect came to.
    package var outcome: HistoryOutcome?

    /// Creates a filter that lets everything through.
    package init() {}

    /// Whether one effect must be as wanted.
    var asksForEffects: Bool { rule != nil || sink != nil || outcome != nil }

    func covers(_ effect: EffectStory) -> Bool {
        names(effect.rule, effect.sink) && (outcome ?? effect.outcome) == effect.outcome
    }

    /// Whether an effect of this rule and sink is meant, whatever it came to.
    func names(_ rule: String, _ sink: String) -> Bool {
        (self.rule ?? rule) == rule && (self.sink ?? sink) == sink
    }
}

/// A recorded event as it is replayed.
package struct RecordedEvent: Sendable {
    /// Its number, in the order of receipt.
    package var number: UInt64
    /// When it was received, by the wall clock.
    package var receivedAt: Instant
    /// The event.
    package var event: Event
    /// Its effects, as they were recorded with it; none if that is damaged.
    package var effects: [RecordedEffect]
}
