internal import RelayCore

/// The open groups, found by key and by when they close.
struct GroupTable: Sendable {
    /// The place of an open group, good until it closes.
    struct Place: Sendable, Hashable {
        fileprivate let slot: Int
        let serial: UInt64
    }

    private let bound: Int
    /// A group and its gathering stay where they are: a dictionary of them would be half empty and copied as it grows.
    private var slots: [OpenGroup?] = []
    private var freeSlots: [Int] = []
    private var places: [EffectKey: Place] = [:]
    private var relayAgenda = Agenda<Place>()
    private var wallAgenda = Agenda<Place>()
    private var sharedCount = 0
    private var marks: ChangeMarks<Place>

    /// How many groups are open.
    var count: Int { places.count }
    /// The memory that the events of all groups take.
    private(set) var byteCount = 0

    /// Creates an empty table with room for so many groups, beside those that are shared.
    init(bound: Int, recordsChanges: Bool = false) {
        self.bound = bound
        marks = ChangeMarks(areOn: recordsChanges)
    }

    /// Whether only shared groups can be opened.
    var isFull: Bool { count - sharedCount >= bound }

    /// The open groups in the order of opening.
    var all: [Place] { places.values.sorted { $0.serial < $1.serial } }

    /// The group at a place.
    subscript(place: Place) -> OpenGroup? {
        guard slots.indices.contains(place.slot), let group = slots[place.slot], group.serial == place.serial else {
            return nil
        }
        return group
    }

    /// Finds the open group with a key.
    func find(_ key: EffectKey) -> Place? { places[key] }

    /// Opens a group.
    mutating func open(_ group: OpenGroup) -> Place {
        let place = insert(group)
        marks.mark(place)
        return place
    }

    private mutating func insert(_ group: OpenGroup) -> Place {
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append(group) } else { slots[slot] = group }
        let place = Place(slot: slot, serial: group.serial)
        places[group.key] = place
        byteCount += group.gathering.byteCount
        if group.isShared { sharedCount += 1 }
        schedule(place, group.deadline)
        return place
    }

    /// What an event that joined a group should know of it.
    struct Joined {
        /// When it closes.
        var deadline: Deadline
        /// Whether it has as many events as close it early.
        var isFull: Bool
        /// Whether it is shared.
        var isShared: Bool
    }

    /// Whether a group has gathered nothing yet.
    func isEmpty(_ place: Place) -> Bool { slots[place.slot]?.gathering.count == 0 }

    /// Adds an event to a group that `find` or `open` returned; `limitKey` counts if the group has none.
    mutating func add(
        _ item: Gathering.Item, isListed: Bool, limitKey: EffectKey?, to place: Place
    ) -> Joined {
        marks.mark(place, since: listed(place))
        let before = slots[place.slot]?.gathering.byteCount ?? 0
        if isListed {
            slots[place.slot]?.gathering.add(item)
        } else {
            slots[place.slot]?.gathering.countOnly(item.event)
        }
        guard let group = slots[place.slot] else {
            return Joined(deadline: .relay(.distantFuture), isFull: false, isShared: false)
        }
        byteCount += group.gathering.byteCount - before
        if group.limitKey == nil { slots[place.slot]?.limitKey = limitKey }
        return Joined(
            deadline: group.deadline, isFull: group.max.map { group.gathering.count >= $0 } ?? false,
            isShared: group.isShared)
    }

    /// Changes the limit key of a group.
    mutating func setLimitKey(_ key: EffectKey?, of place: Place) {
        marks.mark(place, since: listed(place))
        slots[place.slot]?.limitKey = key
    }

    /// Lets a group that found no free slot close at another time; `per` is the stretch of its limit.
    mutating func postpone(_ place: Place, until deadline: Deadline, per: Duration) {
        guard self[place] != nil else { return }
        marks.mark(place, since: listed(place))
        slots[place.slot]?.deadline = deadline
        slots[place.slot]?.waits = per
        schedule(place, deadline)
    }

    /// Closes a group and returns it.
    mutating func remove(_ place: Place) -> OpenGroup? {
        guard let group = self[place] else { return nil }
        marks.mark(place)
        slots[place.slot] = nil
        freeSlots.append(place.slot)
        places[group.key] = nil
        byteCount -= group.gathering.byteCount
        if group.isShared { sharedCount -= 1 }
        return group
    }

    /// Takes the groups that are due from the agenda, in the order of opening; each is closed or postponed then.
    mutating func popDue(at now: Moment) -> [Place] {
        var due: Set<Place> = []
        while let entry = relayAgenda.popDue(at: now.relay) {
            if self[entry.item]?.deadline == .relay(entry.due) { due.insert(entry.item) }
        }
        while let entry = wallAgenda.popDue(at: now.wall) {
            if self[entry.item]?.deadline == .wall(entry.due) { due.insert(entry.item) }
        }
        return due.sorted { $0.serial < $1.serial }
    }

    /// When the first group closes by each clock.
    mutating func deadlines() -> (relay: Instant?, wall: Instant?) {
        let (slots, relay, wall) = (self.slots, Deadline.relay, Deadline.wall)
        return (
            relayAgenda.firstDue { slots[$0.item.slot].isCurrent($0.item.serial, relay($0.due)) },
            wallAgenda.firstDue { slots[$0.item.slot].isCurrent($0.item.serial, wall($0.due)) }
        )
    }

    private mutating func schedule(_ place: Place, _ deadline: Deadline) {
        let slots = slots
        switch deadline {
        case .relay(let due):
            relayAgenda.insert(place, due: due, live: count) {
                slots[$0.item.slot].isCurrent($0.item.serial, .relay($0.due))
            }
        case .wall(let due):
            wallAgenda.insert(place, due: due, live: count) {
                slots[$0.item.slot].isCurrent($0.item.serial, .wall($0.due))
            }
        }
    }
}

// MARK: Rows

extension GroupTable {
    /// All open groups with what they list.
    var rows: (groups: [GroupRow], items: [ItemRow]) {
        let groups = all.compactMap { self[$0] }
        return (groups.map(\.row), groups.flatMap { $0.gathering.rows(from: 0, in: $0.serial) })
    }

    /// Takes the groups that changed, with what they list since then.
    mutating func takeChanges(_ changes: inout LedgerChanges) {
        for (place, count) in marks.take() {
            guard let group = self[place] else {
                changes.groups.removed.append(place.serial)
                continue
            }
            changes.groups.stored.append(group.row)
            changes.items += group.gathering.rows(from: count, in: place.serial)
        }
    }

    /// Takes up the groups that a disk kept; a deadline further off than its own length is cut to that length.
    mutating func restore(_ rows: [GroupRow], items: [UInt64: [ItemRow]], at now: Moment) {
        for row in rows where places[row.key] == nil {
            var group = OpenGroup(row, items: items[row.serial] ?? [])
            let isCut = group.cutDeadline(at: now)
            let place = insert(group)
            if isCut { marks.mark(place, since: listed(place)) }
        }
    }

    /// How many events a group lists.
    private func listed(_ place: Place) -> Int { slots[place.slot]?.gathering.items.count ?? 0 }
}

extension OpenGroup? {
    /// Whether this is the group with that serial, and closes then.
    fileprivate func isCurrent(_ serial: UInt64, _ deadline: Deadline) -> Bool {
        guard let self else { return false }
        return self.serial == serial && self.deadline == deadline
    }
}
