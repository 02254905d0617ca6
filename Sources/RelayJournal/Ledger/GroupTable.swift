internal import RelayCore

/// The open groups, found by key and by when they close.
struct GroupTable: Sendable {
    /// The place of an open group, good until it closes.
    struct Place: Sendable, Hashable, Comparable {
        fileprivate let slot: Int
        let serial: UInt64

        static func < (left: Place, right: Place) -> Bool { left.serial < right.serial }
    }

    /// A group that is to close or to wait again, with the line that it left for that.
    struct Due: Comparable, Sendable {
        let place: Place
        var line: EffectKey?

        static func < (left: Due, right: Due) -> Bool { left.place < right.place }
    }

    private let bound: Int
    /// A group and its gathering stay where they are: a dictionary of them would be half empty and copied as it grows.
    private var slots: [OpenGroup?] = []
    private var freeSlots: [Int] = []
    private var places: [EffectKey: Place] = [:]
    private var relayAgenda = Agenda<Place>()
    private var wallAgenda = Agenda<Place>()
    private var lines = WaitingLines()
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
        if let due = group.waitsUntil, let key = group.line { join(place, key, until: due) } else { schedule(place) }
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
            deadline: deadline(of: group), isFull: group.max.map { group.gathering.count >= $0 } ?? false,
            isShared: group.isShared)
    }

    /// Changes the limit key of a group, which is in no line.
    mutating func setLimitKey(_ key: EffectKey?, of place: Place) {
        marks.mark(place, since: listed(place))
        slots[place.slot]?.limitKey = key
    }

    /// Lets a group go on as another sort, under another key unless a group has that.
    mutating func goOn(_ place: Place, as sort: GroupSort, key: EffectKey) {
        guard let group = self[place] else { return }
        marks.mark(place, since: listed(place))
        slots[place.slot]?.sort = sort
        if places[key] != nil { return }
        places[group.key] = nil
        places[key] = place
        slots[place.slot]?.key = key
    }

    private func deadline(of group: OpenGroup) -> Deadline {
        guard group.isInLine, let due = group.line.flatMap(lines.due(of:)) else { return group.deadline }
        return .relay(due)
    }

    /// Closes a group and returns it.
    mutating func remove(_ place: Place) -> OpenGroup? {
        guard let group = self[place] else { return nil }
        marks.mark(place)
        if group.isInLine, let key = group.line {
            let slots = slots
            lines.leave(place, key) { slots[$0.slot]?.waitsUntil }
        }
        slots[place.slot] = nil
        freeSlots.append(place.slot)
        places[group.key] = nil
        byteCount -= group.gathering.byteCount
        if group.isShared { sharedCount -= 1 }
        return group
    }

    // MARK: Deadlines

    /// Takes the groups that are due from the agenda, each of which is closed or postponed then, in the order of
    /// opening; of those in line the first ones, which `popNext` follows.
    mutating func popDue(at now: Moment) -> Heap<Due> {
        var due: Set<Place> = []
        while let entry = relayAgenda.popDue(at: now.relay) {
            if isCurrent(entry.item, .relay(entry.due)) { due.insert(entry.item) }
        }
        while let entry = wallAgenda.popDue(at: now.wall) {
            if isCurrent(entry.item, .wall(entry.due)) { due.insert(entry.item) }
        }
        var heap = Heap<Due>()
        for place in due { heap.insert(Due(place: place)) }
        for key in lines.popDue(at: now.relay) {
            if let first = popNext(of: key) { heap.insert(first) }
        }
        return heap
    }

    /// Takes the first one that waits in a line, which has left it then.
    mutating func popNext(of line: EffectKey) -> Due? {
        guard let place = lines.popFirst(of: line) else { return nil }
        slots[place.slot]?.isInLine = false
        return Due(place: place, line: line)
    }

    /// Lets a group that found no free slot wait until one is; `per` is the stretch of its limit.
    mutating func postpone(_ place: Place, until due: Instant, per: Duration) {
        guard let group = self[place] else { return }
        let isOtherwise = group.deadline != .relay(due)
        if isOtherwise || group.waits != per {
            marks.mark(place, since: listed(place))
            slots[place.slot]?.deadline = .relay(due)
            slots[place.slot]?.waits = per
        }
        if let key = group.line {
            if group.isInLine { lines.postpone(key, until: due) } else { join(place, key, until: due) }
        } else if isOtherwise {
            // Else it is in the agenda for then already: what is due now is not.
            schedule(place)
        }
    }

    /// Dissolves all lines, before all that wait there close or are postponed again.
    mutating func dissolveLines() {
        for place in lines.removeAll() { slots[place.slot]?.isInLine = false }
    }

    /// The groups that wait for a free slot.
    var waiting: [Place] { places.values.filter { slots[$0.slot]?.waits != nil } }

    /// When the first group closes by each clock.
    mutating func deadlines() -> (relay: Instant?, wall: Instant?) {
        let (slots, relay, wall) = (self.slots, Deadline.relay, Deadline.wall)
        let relayDue = relayAgenda.firstDue { slots[$0.item.slot].isCurrent($0.item.serial, relay($0.due)) }
        return (
            [relayDue, lines.firstDue()].compactMap(\.self).min(),
            wallAgenda.firstDue { slots[$0.item.slot].isCurrent($0.item.serial, wall($0.due)) }
        )
    }

    private mutating func join(_ place: Place, _ key: EffectKey, until due: Instant) {
        lines.join(place, key, until: due)
        slots[place.slot]?.isInLine = true
    }

    private func isCurrent(_ place: Place, _ deadline: Deadline) -> Bool {
        slots[place.slot].isCurrent(place.serial, deadline)
    }

    private mutating func schedule(_ place: Place) {
        let slots = slots
        switch slots[place.slot]?.deadline {
        case nil: break
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
    /// Whether this is the group with that serial, closes then, and is in no line.
    fileprivate func isCurrent(_ serial: UInt64, _ deadline: Deadline) -> Bool {
        guard let self, !self.isInLine else { return false }
        return self.serial == serial && self.deadline == deadline
    }
}
