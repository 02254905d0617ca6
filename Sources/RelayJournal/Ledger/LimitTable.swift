internal import RelayCore

/// The charges of all limits, for each rule, sink and key.
///
/// A key is dropped when its last charge is out of every stretch. One that has `limited` receipts to tell is kept until
/// the room is needed; then they become those of the overflow key of its rule and sink.
struct LimitTable: Sendable {
    /// What a notice is charged to.
    struct Slot: Sendable {
        /// The key of the effect itself.
        let own: EffectKey
        /// The key that is charged: its own, or the one that its rule and sink share.
        let key: EffectKey
        /// Whether the key is shared.
        let isShared: Bool
    }

    private struct Entry: Sendable {
        let scope: Scope
        var charges = ChargeLog<Instant>()
        /// How many `limited` receipts no notice has told yet.
        var untold = 0
        /// The length of a stretch when it was last charged.
        var per: Duration
        /// When it comes up in the agenda, at its end or before; never if it is not there.
        var due = Instant.distantFuture
        /// Its stamp in `expired`, if it is there.
        var expiredStamp: UInt64?

        /// When its last charge is out of every stretch.
        var end: Instant { charges.last.map { $0 + per } ?? Instant(milliseconds: .min) }

        /// Lets it come up at its end, if it would not before; returns whether that is new to the agenda.
        mutating func reschedule() -> Bool {
            guard end < due else { return false }
            due = end
            return true
        }
    }

    /// A charge to a shared key, with the key whose notice it was.
    private struct SharedCharge: Sendable {
        var at: Instant
        let own: EffectKey
    }

    private struct SharedEntry: Sendable {
        let scope: Scope
        var charges = ChargeLog<SharedCharge>()
        var untold = 0
        var per: Duration
    }

    private let bound: Int
    private var entries: [EffectKey: Entry] = [:]
    private var shared: [EffectKey: SharedEntry] = [:]
    private var agenda = Agenda<EffectKey>()
    /// Keys that are kept only for what they have to tell.
    private var expired = AgeList()
    /// The keys of either kind that changed; no key is of both.
    private var marks: ChangeMarks<EffectKey>

    /// How many keys are kept, the shared ones apart.
    var count: Int { entries.count }

    /// Creates an empty table with room for so many keys.
    init(bound: Int, recordsChanges: Bool = false) {
        self.bound = bound
        marks = ChangeMarks(areOn: recordsChanges)
    }

    /// Finds what the notices of a key are charged to.
    ///
    /// A key that was charged to the shared one and now gets its own takes its charges with it, so that it never has
    /// more than its due.
    mutating func slot(for own: EffectKey, _ scope: Scope, _ policy: LimitPolicy, at now: Instant) -> Slot {
        if entries[own] != nil { return Slot(own: own, key: own, isShared: false) }
        if entries.count >= bound { makeRoom() }
        let others = scope.others
        if entries.count >= bound { return Slot(own: own, key: others, isShared: true) }
        if let taken = shared[others]?.charges.all.filter({ $0.own == own && $0.at + policy.per > now }), !taken.isEmpty
        {
            modify(own, scope, policy) { entry in
                for charge in taken { entry.charges.append(charge.at, keeping: policy.max) }
            }
        }
        return Slot(own: own, key: own, isShared: false)
    }

    /// Returns the slot of what a rule shares for a sink.
    func sharedSlot(_ scope: Scope) -> Slot {
        let others = scope.others
        return Slot(own: others, key: others, isShared: true)
    }

    /// Returns when a slot is free, or nil if one is free now.
    ///
    /// A charge in the future counts as made now.
    mutating func whenFree(_ slot: Slot, _ policy: LimitPolicy, at now: Instant) -> Instant? {
        bringBack(slot, to: now)
        let oldest =
            slot.isShared
            ? shared[slot.key]?.charges.last(policy.max)?.at : entries[slot.key]?.charges.last(policy.max)
        guard let free = oldest.map({ $0 + policy.per }), free > now else { return nil }
        return free
    }

    /// Charges a notice, which tells all `limited` receipts.
    mutating func charge(_ slot: Slot, _ scope: Scope, _ policy: LimitPolicy, at now: Instant) {
        if slot.isShared {
            modifyShared(slot.key, scope, policy.per) { entry in
                entry.charges.append(SharedCharge(at: now, own: slot.own), keeping: policy.max)
                entry.per = policy.per
                entry.untold = 0
            }
        } else {
            modify(slot.key, scope, policy) { entry in
                entry.charges.append(now, keeping: policy.max)
                entry.per = policy.per
                entry.untold = 0
            }
        }
    }

    /// Notes `limited` receipts that the next notice tells.
    mutating func limit(_ slot: Slot, _ scope: Scope, _ policy: LimitPolicy, count: Int) {
        if slot.isShared {
            modifyShared(slot.key, scope, policy.per) { $0.untold += count }
        } else {
            modify(slot.key, scope, policy) { entry in
                entry.untold += count
                // A reload may have made the stretch longer since it was charged.
                entry.per = max(entry.per, policy.per)
            }
        }
    }

    /// How many `limited` receipts the next notice tells.
    func untold(_ slot: Slot) -> Int {
        (slot.isShared ? shared[slot.key]?.untold : entries[slot.key]?.untold) ?? 0
    }

    /// Drops the keys whose charges are all out of their stretches.
    mutating func removeExpired(at now: Instant) {
        var telling: [(end: Instant, key: EffectKey)] = []
        while let due = agenda.popDue(at: now) {
            guard let entry = entries[due.item], entry.due == due.due else { continue }
            entries[due.item]?.due = .distantFuture
            if entry.end > due.due {
                schedule(due.item)
            } else if entry.untold > 0 {
                telling.append((entry.end, due.item))
            } else {
                marks.mark(due.item)
                entries[due.item] = nil
            }
        }
        // In the order of their ends, so that those forgotten first are the same after a restart.
        telling.sort { ($0.end, $0.key.high, $0.key.low) < ($1.end, $1.key.high, $1.key.low) }
        for (_, key) in telling {
            let stamp = expired.append(key, live: entries.count) { entries[$0.key]?.expiredStamp == $0.stamp }
            entries[key]?.expiredStamp = stamp
        }
    }

    /// Drops the shared keys of rules and sinks that are gone, once their charges are out.
    mutating func removeShared(at now: Instant, unless isKept: (Scope) -> Bool) {
        for (key, entry) in shared where !isKept(entry.scope) {
            if let last = entry.charges.last, last.at + entry.per > now { continue }
            marks.mark(key)
            shared[key] = nil
        }
    }

    /// Changes a key, which is new or has not expired any more.
    private mutating func modify(
        _ key: EffectKey, _ scope: Scope, _ policy: LimitPolicy, _ change: (inout Entry) -> Void
    ) {
        marks.mark(key)
        change(&entries[key, default: Entry(scope: scope, per: policy.per)])
        if entries[key]?.expiredStamp != nil { entries[key]?.expiredStamp = nil }
        schedule(key)
    }

    private mutating func modifyShared(
        _ key: EffectKey, _ scope: Scope, _ per: Duration, _ change: (inout SharedEntry) -> Void
    ) {
        marks.mark(key)
        change(&shared[key, default: SharedEntry(scope: scope, per: per)])
    }

    private mutating func schedule(_ key: EffectKey) {
        guard entries[key]?.reschedule() == true, let due = entries[key]?.due else { return }
        agenda.insert(key, due: due, live: entries.count) { entries[$0.item]?.due == $0.due }
    }

    /// Drops the oldest key that is kept only for what it has to tell.
    private mutating func makeRoom() {
        guard let key = expired.popOldest(isCurrent: { entries[$0.key]?.expiredStamp == $0.stamp }),
            let entry = entries.removeValue(forKey: key)
        else { return }
        marks.mark(key)
        modifyShared(entry.scope.others, entry.scope, entry.per) { $0.untold += entry.untold }
    }

    private mutating func bringBack(_ slot: Slot, to now: Instant) {
        if slot.isShared {
            guard let last = shared[slot.key]?.charges.last, last.at > now else { return }
            marks.mark(slot.key)
            shared[slot.key]?.charges.modifyAll { $0.at = min($0.at, now) }
        } else {
            guard let last = entries[slot.key]?.charges.last, last > now else { return }
            marks.mark(slot.key)
            entries[slot.key]?.charges.modifyAll { $0 = min($0, now) }
            schedule(slot.key)
        }
    }
}

// MARK: Rows

extension LimitTable {
    /// All keys.
    var rows: [LimitRow] { entries.keys.compactMap(row(of:)) + shared.keys.compactMap(row(of:)) }

    /// Takes the keys that changed.
    mutating func takeChanges() -> RowChanges<LimitRow> { RowChanges(of: marks.take().keys, row(of:)) }

    /// Takes up the keys that a disk kept; a charge in the future counts as made now.
    mutating func restore(_ rows: [LimitRow], at now: Instant) {
        for row in rows {
            if row.charges.contains(where: { $0 > now }) { marks.mark(row.key) }
            let charges = row.charges.map { min($0, now) }
            if row.isShared {
                var entry = SharedEntry(scope: row.scope, untold: row.untold.asCount, per: row.per)
                entry.charges = ChargeLog(zip(charges, row.owners).map { SharedCharge(at: $0, own: $1) })
                shared[row.key] = entry
            } else {
                entries[row.key] = Entry(
                    scope: row.scope, charges: ChargeLog(charges), untold: row.untold.asCount, per: row.per)
            }
        }
        // Those that have only something to tell are found when the first time passes.
        for key in entries.keys { schedule(key) }
    }

    private func row(of key: EffectKey) -> LimitRow? {
        if let entry = entries[key] {
            return LimitRow(
                key: key, scope: entry.scope, isShared: false, charges: Array(entry.charges.all), untold: entry.untold,
                per: entry.per)
        }
        return shared[key].map { entry in
            LimitRow(
                key: key, scope: entry.scope, isShared: true, charges: entry.charges.all.map(\.at),
                owners: entry.charges.all.map(\.own), untold: entry.untold, per: entry.per)
        }
    }
}
