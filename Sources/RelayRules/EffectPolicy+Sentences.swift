internal import GLibRuntime
internal import RelayCore

extension EffectPolicy {
    /// What the policy asks of the journal, in the order of effects: `limit 5 per 1m by actor, excess digest`.
    var sentences: [String] {
        var sentences: [String] = []
        if let policy = self.repeat {
            sentences.append("repeat\(Self.by(policy.by)) within \(DurationText.format(policy.within))")
        }
        if let digest { sentences.append(digest.sentence) }
        if let hold { sentences.append("hold in \(hold)") }
        if let limit {
            let per = DurationText.format(limit.per)
            sentences.append("limit \(limit.max) per \(per)\(Self.by(limit.by)), excess \(limit.excess.rawValue)")
        }
        return sentences
    }

    fileprivate static func by(_ fields: [KeyField]) -> String {
        fields.isEmpty ? "" : " by " + fields.map(\.rawValue).joined(separator: ", ")
    }
}

extension DigestPolicy {
    fileprivate var sentence: String {
        var text = "digest\(EffectPolicy.by(by))"
        switch timing {
        case .window(let window): text += ", window \(DurationText.format(window))"
        case .at(let times): text += ", at " + times.minutes.map(LocalClock.text).joined(separator: ", ")
        }
        if let max { text += ", at most \(max)" }
        return sendsFirst ? text + ", first now" : text
    }
}

/// Times of day in words.
enum LocalClock {
    /// Returns a time of day as a file has it.
    static func text(_ minute: QuietTime.Minute) -> String {
        func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
        return "\(digits(minute / 60)):\(digits(minute % 60))"
    }

    /// Returns a moment with its zone, such as `2026-03-29 03:30 in Europe/Berlin`.
    static func text(_ instant: Instant, in zone: Zone) -> String {
        let time = LocalTime.dateAndMinute(ofMilliseconds: instant.milliseconds, in: zone)
        return "\(time) in \(zone.name.isEmpty ? "the system's zone" : zone.name)"
    }
}
