/// Why an effect was suppressed; the word in receipts, counters and metrics.
@usableFromInline package enum Receipt: String, Sendable, CaseIterable, BitwiseCopyable {
    /// A rule with `drop` matched.
    case dropped
    /// The limit of the rule was used up.
    case limited
    /// The same event, or the same key within `repeat`, came before.
    case duplicate
    /// A silence covered it.
    case silenced
    /// No rule matched.
    case unmatched
}

/// One matched rule for one sink for one event.
@usableFromInline package struct Effect: Sendable, Equatable, BitwiseCopyable {
    /// What becomes of it.
    @usableFromInline package enum Action: Sendable, Equatable, BitwiseCopyable {
        /// A delivery to the sink.
        case deliver
        /// Nothing but a receipt.
        case suppress(Receipt)
    }

    /// The place of the rule in the file, from 0; `nobody` for an event that no rule matched.
    @usableFromInline package var rule: Int
    /// The place of the sink in the rule set's list of sinks; `nobody` for a receipt without a sink (shown as `-`).
    @usableFromInline package var sink: Int
    /// What becomes of it.
    @usableFromInline package var action: Action

    /// Creates an effect.
    @inlinable package init(rule: Int, sink: Int, action: Action) {
        self.rule = rule
        self.sink = sink
        self.action = action
    }

    /// The rule or sink of a receipt that has none.
    @inlinable package static var nobody: Int { -1 }
}
