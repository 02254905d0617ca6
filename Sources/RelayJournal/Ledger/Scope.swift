internal import RelayCore

/// A rule and a sink by name: limits, repeats and digests are apart for each such pair.
struct Scope: Sendable, Hashable {
    /// The name of the rule.
    let rule: String
    /// The name of the sink.
    let sink: String

    /// The key that the pair shares when a table is full.
    var others: EffectKey { EffectKey(othersOf: rule, sink: sink) }

    /// Returns the key of an event by some of its fields.
    func key(_ role: EffectKey.Role, by fields: [KeyField], of event: Event) -> EffectKey {
        EffectKey(role, rule: rule, sink: sink, by: fields, of: event)
    }
}
