internal import RelayCore

/// A rule and a sink by name: limits, repeats and digests are apart for each such pair.
package struct Scope: Sendable, Hashable {
    /// The name of the rule.
    package let rule: String
    /// The name of the sink.
    package let sink: String

    /// Creates a pair.
    package init(rule: String, sink: String) {
        self.rule = rule
        self.sink = sink
    }

    /// The key that the pair shares when a table is full.
    var others: EffectKey { EffectKey(othersOf: rule, sink: sink) }

    /// Returns the key of an event by some of its fields.
    func key(_ role: EffectKey.Role, by fields: [KeyField], of event: Event) -> EffectKey {
        EffectKey(role, rule: rule, sink: sink, by: fields, of: event)
    }
}
