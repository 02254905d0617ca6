internal import GLibRuntime
internal import RelayCore
internal import RelayRules

/// What the flows of all streams decide by: the rules of one file, and where the effects of its sinks go.
@MainLoop
struct RulesInForce {
    /// Where the effects of one sink go that are not the journal's.
    enum Outlet {
        /// To the lines of standard output, right after the decision.
        case lines(StdoutLines)
        /// Nowhere: all of them are the journal's.
        case journal
    }

    /// The rules.
    let rules: RuleSet
    /// An outlet for each sink of `rules`, in its order.
    let outlets: [Outlet]
    /// Whether a rule's effects are the journal's in any sink, by the places of the rules.
    let isStateful: [Bool]

    /// Whether the history keeps every event, and not only those of which the journal has effects.
    let recordsAll: Bool

    /// Whether the last events of which nothing is recorded are kept in memory.
    let keepsRecent: Bool

    /// Takes the rules of a file; `output` is standard output, if a sink has it, and without `hasHistory` nothing is
    /// recorded.
    init(_ configuration: RelayConfiguration, plan: EffectPlan, output: StandardOutput?, hasHistory: Bool = false) {
        let hasHistory = hasHistory && !configuration.history.isOff
        recordsAll = hasHistory && configuration.history.all
        keepsRecent = hasHistory && !configuration.history.all
        rules = configuration.rules
        isStateful = plan.policies.map(\.isStateful)
        outlets = configuration.sinks.map { sink in
            if case .stdout = sink.kind, !sink.isDurable, let output { return .lines(output.lines) }
            return .journal
        }
    }
}
