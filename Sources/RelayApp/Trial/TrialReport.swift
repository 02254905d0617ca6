internal import GLibRuntime
internal import RelayCore

/// Tells of a try as it goes on: to people or to programs.
@MainLoop
protocol TrialReport: VirtualRelayObserver {
    /// An event whose id had come before was passed over.
    func repeated(_ event: Event, at instant: Instant)
}

/// The names that a report needs, and which sink it shows.
struct TrialNames: Sendable {
    /// The names of the rules, by their places.
    let rules: [String]
    /// What the rules ask of the journal, by their places.
    let policies: [EffectPolicy]
    /// The names of the sinks, by their places.
    let sinks: [String]
    /// The one sink to show; nil for all.
    let shown: String?

    /// Creates the names of a plan.
    init(_ plan: EffectPlan, shown: String?) {
        rules = plan.policies.map(\.rule)
        policies = plan.policies
        sinks = plan.sinkNames
        self.shown = shown
    }

    /// The name of the rule of an effect; empty if no rule matched.
    func rule(_ effect: Effect) -> String { rules.indices.contains(effect.rule) ? rules[effect.rule] : "" }

    /// The name of the sink of an effect, or `-`.
    func sink(_ effect: Effect) -> String { sinks.indices.contains(effect.sink) ? sinks[effect.sink] : "-" }

    /// Whether a sink is shown.
    func shows(_ sink: String) -> Bool { shown == nil || shown == sink }
}

extension Acceptance {
    /// The outcome and its reason, as `--json` has them.
    var words: (outcome: String, reason: String) {
        switch self {
        case .stored: ("deliver", "at once")
        case .gathered(.relay(let until)), .gathered(.wall(let until)):
            ("digest", "until \(TimestampText.format(until))")
        case .held(let time, let until): ("hold", "\(time) until \(TimestampText.format(until))")
        case .suppressed(let receipt): ("suppress", receipt.rawValue)
        case .outboxFull: ("suppress", "outbox full")
        }
    }
}
