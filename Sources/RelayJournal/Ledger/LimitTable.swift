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
        /// Its stamp in `expired`, if it is there and not in the agenda.
        var expiredStamp: UInt64?
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

    /// How many keys are kept, the shared ones apart.
    var count: Int { entries.count }

    /// Creates an empty table with room for so many keys.
    init(bound: Int) {
        self.bound = bound
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
            open(own, scope, policy, at: now)
            for charge in taken { entries[own]?.charges.append(charge.at, keeping: policy.max) }
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
            shared[slot.key, default: SharedEntry(scope: scope, per: policy.per)].charges.append(
                SharedCharge(at: now, own: slot.own), keeping: policy.max)
            shared[slot.key]?.per = policy.per
            shared[slot.key]?.untold = 0
        } else {
            open(slot.key, scope, policy, at: now)
            entries[slot.key]?.charges.append(now, keeping: policy.max)
            entries[slot.key]?.per = policy.per
            entries[slot.key]?.untold = 0
        }
    }

    /// Notes `limited` receipts that the next notice tells.
    mutating func limit(_ slot: Slot, _ scope: Scope, _ policy: LimitPolicy, count: Int, at now: Instant) {
        if slot.isShared {
            shared[slot.key, default: SharedEntry(scope: scope, per: policy.per)].untold += count
        } else {
            open(slot.key, scope, policy, at: now)
            entries[slot.key]?.untold += count
        }
    }

    /// How many `limited` receipts the next notice tells.
    func untold(_ slot: Slot) -> Int {
        (slot.isShared ? shared[slot.key]?.untold : entries[slot.key]?.untold) ?? 0
    }

    /// Drops the keys whose charges are all out of their stretches.
    mutating func removeExpired(at now: Instant) {
        while let due = agenda.popDue(at: now) {
            guard let entry = entries[due.item], entry.expiredStamp == nil else { continue }
            let end = entry.charges.last.map { $0 + entry.per } ?? now
            if end > now {
                schedule(due.item, at: end)
            } else if entry.untold == 0 {
                entries[due.item] = nil
            } else {
                let stamp = expired.append(due.item, live: entries.count) { entries[$0.key]?.expiredStamp == $0.stamp }
                entries[due.item]?.expiredStamp = stamp
            }
        }
    }

    /// Drops the shared keys of rules and sinks that are gone, once their charges are out.
    mutating func removeShared(at now: Instant, unless isKept: (Scope) -> Bool) {
        for (key, entry) in shared where !isKept(entry.scope) {
            if let last = entry.charges.last, last.at + entry.per > now { continue }
            shared[key] = nil
        }
    }

    private mutating func open(_ key: EffectKey, _ scope: Scope, _ policy: LimitPolicy, at now: Instant) {
        if let entry = entries[key] {
            guard entry.expiredStamp != nil else { return }
            entries[key]?.expiredStamp = nil
        } else {
            entries[key] = Entry(scope: scope, per: policy.per)
        }
        schedule(key, at: now + policy.per)
    }

    private mutating func schedule(_ key: EffectKey, at due: Instant) {
        agenda.insert(key, due: due, live: entries.count) { entries[$0.item] != nil }
    }

    /// Drops the oldest key that is kept only for what it has to tell.
    private mutating func makeRoom() {
        guard let key = expired.popOldest(isCurrent: { entries[$0.key]?.expiredStamp == $0.stamp }),
            let entry = entries.removeValue(forKey: key)
        else { return }
        shared[entry.scope.others, default: SharedEntry(scope: entry.scope, per: entry.per)].untold += entry.untold
    }

    private mutating func bringBack(_ slot: Slot, to now: Instant) {
        if slot.isShared {
            guard let last = shared[slot.key]?.charges.last, last.at > now else { return }
            shared[slot.key]?.charges.modifyAll { $0.at = min($0.at, now) }
        } else {
            guard let last = entries[slot.key]?.charges.last, last > now else { return }
            entries[slot.key]?.charges.modifyAll { $0 = min($0, now) }
        }
    }
}
