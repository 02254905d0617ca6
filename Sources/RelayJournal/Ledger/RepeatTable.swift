internal import RelayCore

/// The keys that passed a `repeat`, with when they did; the oldest are forgotten at the bound.
struct RepeatTable: Sendable {
    private struct Pass: Sendable {
        var at: Instant
        var within: Duration
        /// Its stamp in `order`.
        var stamp: UInt64

        var end: Instant { at + within }
    }

    private let bound: Int
    private var passes: [EffectKey: Pass] = [:]
    private var agenda = Agenda<EffectKey>()
    private var order = AgeList()

    /// Keys that were forgotten before their time.
    private(set) var forgotten = 0
    /// How many keys are kept.
    var count: Int { passes.count }

    /// Creates an empty table with room for so many keys, at least one.
    init(bound: Int) {
        self.bound = max(1, bound)
    }

    /// Lets a key pass, and returns true, unless it passed less than `within` ago.
    ///
    /// A time in the future counts as now.
    mutating func pass(_ key: EffectKey, within: Duration, at now: Instant) -> Bool {
        if let pass = passes[key] {
            if pass.at > now {
                passes[key]?.at = now
                schedule(key)
            }
            if now < min(pass.at, now) + within { return false }
        } else if passes.count >= bound {
            forgetOldest()
        }
        let stamp = order.append(key, live: passes.count) { passes[$0.key]?.stamp == $0.stamp }
        passes[key] = Pass(at: now, within: within, stamp: stamp)
        schedule(key)
        return true
    }

    /// Drops the keys whose time is over.
    mutating func removeExpired(at now: Instant) {
        while let entry = agenda.popDue(at: now) {
            if passes[entry.item]?.end == entry.due { passes[entry.item] = nil }
        }
    }

    private mutating func schedule(_ key: EffectKey) {
        guard let pass = passes[key] else { return }
        agenda.insert(key, due: pass.end, live: passes.count) { passes[$0.item]?.end == $0.due }
    }

    private mutating func forgetOldest() {
        guard let key = order.popOldest(isCurrent: { passes[$0.key]?.stamp == $0.stamp }) else { return }
        passes[key] = nil
        forgotten += 1
    }
}
