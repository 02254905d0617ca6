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
    private var marks: ChangeMarks<EffectKey>

    /// Keys that were forgotten before their time.
    private(set) var forgotten = 0
    /// How many keys are kept.
    var count: Int { passes.count }

    /// Creates an empty table with room for so many keys, at least one.
    init(bound: Int, recordsChanges: Bool = false) {
        self.bound = max(1, bound)
        marks = ChangeMarks(areOn: recordsChanges)
    }

    /// Lets a key pass, and returns true, unless it passed less than `within` ago.
    ///
    /// A time in the future counts as now.
    mutating func pass(_ key: EffectKey, within: Duration, at now: Instant) -> Bool {
        if let pass = passes[key] {
            if pass.at > now {
                marks.mark(key)
                passes[key]?.at = now
                schedule(key)
            }
            if now < min(pass.at, now) + within { return false }
        } else if passes.count >= bound {
            forgetOldest()
        }
        marks.mark(key)
        let stamp = order.append(key, live: passes.count) { passes[$0.key]?.stamp == $0.stamp }
        passes[key] = Pass(at: now, within: within, stamp: stamp)
        schedule(key)
        return true
    }

    /// Drops the keys whose time is over.
    mutating func removeExpired(at now: Instant) {
        while let entry = agenda.popDue(at: now) {
            guard passes[entry.item]?.end == entry.due else { continue }
            marks.mark(entry.item)
            passes[entry.item] = nil
        }
    }

    private mutating func schedule(_ key: EffectKey) {
        guard let pass = passes[key] else { return }
        agenda.insert(key, due: pass.end, live: passes.count) { passes[$0.item]?.end == $0.due }
    }

    private mutating func forgetOldest() {
        guard let key = order.popOldest(isCurrent: { passes[$0.key]?.stamp == $0.stamp }) else { return }
        marks.mark(key)
        passes[key] = nil
        forgotten += 1
    }
}

// MARK: Rows

extension RepeatTable {
    /// All keys.
    var rows: [RepeatRow] { passes.keys.compactMap(row(of:)) }

    /// Takes the keys that changed.
    mutating func takeChanges() -> RowChanges<RepeatRow> { RowChanges(of: marks.take().keys, row(of:)) }

    /// Takes up the keys that a disk kept; a time in the future counts as now.
    mutating func restore(_ rows: [RepeatRow], forgotten: Int, at now: Instant) {
        self.forgotten = forgotten.asCount
        for row in rows {
            if row.at > now { marks.mark(row.key) }
            passes[row.key] = Pass(at: min(row.at, now), within: row.within, stamp: row.order)
        }
        order = AgeList(passes.map { .init(key: $0, stamp: $1.stamp) })
        for key in passes.keys { schedule(key) }
    }

    private func row(of key: EffectKey) -> RepeatRow? {
        passes[key].map { RepeatRow(key: key, at: $0.at, within: $0.within, order: $0.stamp) }
    }
}
