internal import RelayCore
internal import RelayRules
internal import RelaySinks

/// Warns of sinks that are right to the letter and may not be what is meant.
enum SinkLint {
    /// Checks the sinks of a file without errors, of which `nodes` are the members in the same order.
    static func check(
        _ sinks: [SinkConfiguration], _ nodes: [ConfigurationNode.Member], rules: RuleSet, _ problems: Problems
    ) {
        let used = Set(rules.rules.flatMap(\.sinks).map { rules.sinkNames[$0] })
        for (sink, node) in zip(sinks, nodes) {
            if !used.contains(sink.name) {
                warn(node, "no rule uses the sink \(Shown.quoted(sink.name))", problems)
            } else if case .stdout(let configuration) = sink.kind, !sink.isDurable {
                let drops = configuration.whenFull.map { $0 == .drop } ?? (sinks.count > 1)
                warn(node, loss(drops: drops), problems)
            }
        }
    }

    private static func loss(drops: Bool) -> String {
        let full = drops ? ", and the newest when its reader is slow" : ""
        return "can lose lines: those not yet written when the process is killed, as no stream catches up\(full); "
            + "\"durable\": true keeps them"
    }

    private static func warn(_ member: ConfigurationNode.Member, _ message: String, _ problems: Problems) {
        problems.add(Problem(.warning, at: member.keyPosition, path: member.value.path, message: message))
    }
}
