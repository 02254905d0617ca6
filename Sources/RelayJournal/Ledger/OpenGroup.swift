internal import GLibRuntime
internal import RelayCore

/// An open digest: what was gathered so far, and when it closes.
struct OpenGroup: Sendable {
    /// What makes an event belong to it.
    var key: EffectKey
    /// Its rule and its sink.
    let scope: Scope
    /// Its number in the order of opening, never used again.
    let serial: UInt64
    /// Why it was opened.
    var sort: GroupSort
    /// Whether it is the group that a rule shares for a sink.
    let isShared: Bool
    /// When it closes.
    var deadline: Deadline
    /// The stretch of the limit for a slot of which it waits; nil as long as its own window runs.
    var waits: Duration?
    /// The limit key of its first event, which is that of its notice unless it is shared; nil as long as it is empty.
    var limitKey: EffectKey?
    /// Whether it is in the line of its limit key.
    var isInLine = false
    /// What was gathered.
    var gathering = Gathering()

    /// The number of events that closes it early.
    var max: Int? {
        if case .digest(let policy) = sort { policy.max } else { nil }
    }

    /// The fields that make the group.
    var by: [KeyField] {
        switch sort {
        case .digest(let policy): policy.by
        case .excess(let policy): policy.by
        }
    }

    /// The line in which it waits if it finds no free slot; nil for a shared one, which waits alone.
    var line: EffectKey? { isShared ? nil : limitKey }

    /// Until when it waits for a free slot, when it was asked last; nil as long as its own window runs.
    var waitsUntil: Instant? {
        guard waits != nil, case .relay(let due) = deadline else { return nil }
        return due
    }

    /// The group as people and machines read it: the values of `by` as they came in its first event.
    var label: UntrustedText {
        if isShared { return UntrustedText("others") }
        return gathering.items.first.map { by.label(of: $0.event) } ?? UntrustedText()
    }

    /// Whether a policy goes on with the group; else it has no place any more and closes.
    func isKept(by policy: EffectPolicy) -> Bool {
        switch (sort, policy.digest) {
        case (.digest(let old), let new?): old.groups(as: new)
        case (.excess(let old), nil):
            policy.limit.map { $0.excess == .digest && $0.per == old.per && Set($0.by) == Set(old.by) } ?? false
        default: false
        }
    }
}

// MARK: Rows

extension OpenGroup {
    /// The group without what it lists.
    var row: GroupRow {
        GroupRow(
            serial: serial, key: key, scope: scope, sort: sort, isShared: isShared, deadline: deadline, waits: waits,
            limitKey: limitKey, tally: gathering.tally)
    }

    /// Creates a group as a disk kept it.
    init(_ row: GroupRow, items: [ItemRow]) {
        key = row.key
        scope = row.scope
        serial = row.serial
        sort = row.sort
        isShared = row.isShared
        deadline = row.deadline
        waits = row.waits
        limitKey = row.limitKey
        gathering = Gathering(items, tally: row.tally)
    }

    /// Cuts a deadline that is further off than the group may be open, or wait; returns whether it was.
    mutating func cutDeadline(at now: Moment) -> Bool {
        switch deadline {
        case .relay(let due):
            let latest = now.relay + (waits ?? sort.window ?? .zero)
            guard latest < due else { return false }
            deadline = .relay(latest)
        case .wall(let due):
            guard case .digest(let policy) = sort, case .at(let times) = policy.timing else { return false }
            let latest = times.next(after: now.wall)
            guard latest < due else { return false }
            deadline = .wall(latest)
        }
        return true
    }
}

extension Gathering {
    /// Returns what it lists, from a place on.
    func rows(from start: Int, in serial: UInt64) -> [ItemRow] {
        (min(start, items.count)..<items.count).map { place in
            ItemRow(serial: serial, place: place, event: items[place].event, rule: items[place].rule)
        }
    }

    /// Creates a gathering as a disk kept it, which counts at least what it lists.
    init(_ rows: [ItemRow], tally: GatheringTally) {
        var tally = tally
        tally.count = max(tally.count.asCount, min(rows.count, Self.mostItems))
        self.init(
            listing: rows.sorted { $0.place < $1.place }.map { Item($0.event, rule: $0.rule) }, tally: tally)
    }
}

extension Int {
    /// The number as a count that a disk kept: what is damaged must not make a sum overflow.
    var asCount: Int { Swift.max(0, Swift.min(self, 1 << 48)) }
}

extension DigestPolicy {
    /// Whether groups and their windows are the same.
    func groups(as other: DigestPolicy) -> Bool {
        guard Set(by) == Set(other.by) else { return false }
        switch (timing, other.timing) {
        case (.window(let window), .window(let other)): return window == other
        case (.at(let times), .at(let other)):
            return Set(times.minutes) == Set(other.minutes) && times.zone.name == other.zone.name
        default: return false
        }
    }

    /// Returns when a group closes that opens now.
    func deadline(at now: Moment) -> Deadline {
        switch timing {
        case .window(let window): .relay(now.relay + window)
        case .at(let times): .wall(times.next(after: now.wall))
        }
    }
}
