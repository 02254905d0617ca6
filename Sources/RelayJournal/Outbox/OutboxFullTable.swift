internal import RelayCore

/// What found no room in the share of a sink, by rule and hour.
///
/// At the bound the oldest hours are forgotten; the counters of the sink still have them among the dead.
struct OutboxFullTable: Sendable {
    private struct Key: Hashable {
        let rule: String
        let hour: Instant
    }

    private struct Count {
        var count = 0
        var untold = 0
    }

    private static let mostRows = 1000

    private var counts: [Key: Count] = [:]
    private var untold: [String: Int] = [:]
    private var changed: Set<Key> = []

    /// Whether nothing was ever refused, or all of it is forgotten.
    var isEmpty: Bool { counts.isEmpty }

    /// Counts effects that found no room.
    mutating func add(_ effects: Int, rule: String, at now: Instant) {
        let key = Key(rule: rule, hour: Self.hour(of: now))
        if counts[key] == nil, counts.count >= Self.mostRows { forgetOldest() }
        counts[key, default: Count()].count += effects
        counts[key]?.untold += effects
        untold[rule, default: 0] += effects
        changed.insert(key)
    }

    /// How many effects of a rule no notice has told yet.
    func untold(of rule: String) -> Int { untold[rule] ?? 0 }

    /// Notes that a notice tells of all that a rule had.
    mutating func tell(_ rule: String) {
        guard untold.removeValue(forKey: rule) != nil else { return }
        for (key, count) in counts where key.rule == rule && count.untold > 0 {
            counts[key]?.untold = 0
            changed.insert(key)
        }
    }

    /// Adds a count as it was stored.
    mutating func insert(_ count: OutboxFullCount) {
        counts[Key(rule: count.rule, hour: count.hour)] = Count(count: count.count, untold: count.untold)
        if count.untold > 0 { untold[count.rule, default: 0] += count.untold }
    }

    /// All counts, the oldest first.
    func all(of sink: String) -> [OutboxFullCount] {
        counts.map { row($0, $1, sink) }.sorted { ($0.hour, $0.rule) < ($1.hour, $1.rule) }
    }

    /// Takes the counts that changed; one of nothing is gone.
    mutating func takeChanges(of sink: String) -> [OutboxFullCount] {
        defer { changed.removeAll() }
        return changed.map { row($0, counts[$0] ?? Count(), sink) }
    }

    private func row(_ key: Key, _ count: Count, _ sink: String) -> OutboxFullCount {
        OutboxFullCount(sink: sink, rule: key.rule, hour: key.hour, count: count.count, untold: count.untold)
    }

    private mutating func forgetOldest() {
        guard let oldest = counts.keys.min(by: { ($0.hour, $0.rule) < ($1.hour, $1.rule) }),
            let count = counts.removeValue(forKey: oldest)
        else { return }
        if let left = untold[oldest.rule].map({ $0 - count.untold }) { untold[oldest.rule] = left > 0 ? left : nil }
        changed.insert(oldest)
    }

    private static func hour(of now: Instant) -> Instant {
        let length: Int64 = 3_600_000
        let rest = now.milliseconds % length
        return Instant(milliseconds: now.milliseconds - (rest < 0 ? rest + length : rest))
    }
}
