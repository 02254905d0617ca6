internal import RelayCore
internal import RelayRules

/// What became of an effect, in words for people.
enum TrialWords {
    /// Returns the words, such as `held: night, until 2026-03-29 07:00:00+02:00`.
    static func sentence(_ acceptance: Acceptance, _ policy: EffectPolicy, _ times: ZonedTime) -> String {
        switch acceptance {
        case .stored: "at once"
        case .gathered(.relay(let until)), .gathered(.wall(let until)): "digest, closes \(times.text(until))"
        case .held(let time, let until): "held by \(time), briefing \(times.text(until))"
        case .suppressed(let receipt): suppressed(receipt, policy)
        case .outboxFull: "dead: outbox full"
        }
    }

    /// Tells of the rules whose regular expressions gave up, which counts as no match.
    static func tellOverruns(of rules: RuleSet) {
        for (rule, count) in zip(rules.rules, rules.patternOverruns) where count > 0 {
            Console.complain(
                "chirp-relay: a regular expression of rule \(Shown.quoted(rule.name)) took too long "
                    + "\(counted(count, "time")), which counts as no match; write it more simply")
        }
    }

    /// Returns a number with its noun, such as `2 events`.
    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    private static func suppressed(_ receipt: Receipt, _ policy: EffectPolicy) -> String {
        switch receipt {
        case .limited:
            guard let limit = policy.limit else { return "limited" }
            return "limited: \(limit.max) in \(DurationText.format(limit.per))\(keys(limit.by)) are used up"
        case .duplicate:
            guard let policy = policy.repeat else { return "duplicate" }
            return "duplicate: the same \(policy.by.map(\.rawValue).joined(separator: ", ")) passed within "
                + DurationText.format(policy.within)
        case .dropped, .silenced, .unmatched: return receipt.rawValue
        }
    }

    private static func keys(_ fields: [KeyField]) -> String {
        fields.isEmpty ? "" : " for one \(fields.map(\.rawValue).joined(separator: ", "))"
    }
}
