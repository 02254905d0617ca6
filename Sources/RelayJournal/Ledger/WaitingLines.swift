internal import RelayCore

/// The groups that wait for a free slot of their limit: a line for each limit key, the oldest opening first.
///
/// A line is woken as a whole, when its slot comes free, and only as many leave it as find one: that costs the same
/// however many wait.
struct WaitingLines: Sendable {
    private struct Line: Sendable {
        var members = Heap<GroupTable.Place>()
        /// When the first of them may leave.
        var due: Instant
    }

    private var lines: [EffectKey: Line] = [:]
    private var agenda = Agenda<EffectKey>()

    /// Returns when the first of a line may leave; nil if there is no such line.
    func due(of key: EffectKey) -> Instant? { lines[key]?.due }

    /// Lets a group join a line, whose slot comes free at `due`.
    mutating func join(_ place: GroupTable.Place, _ key: EffectKey, until due: Instant) {
        lines[key, default: Line(due: due)].members.insert(place)
        if let line = lines[key], line.members.elements.count == 1 { schedule(key) }
        postpone(key, until: due)
    }

    /// Lets a line wait until then, unless it waits for longer.
    mutating func postpone(_ key: EffectKey, until due: Instant) {
        guard let line = lines[key], line.due < due else { return }
        lines[key]?.due = due
        schedule(key)
    }

    /// Takes the lines that are due from the agenda; who waits there leaves, or postpones the line.
    mutating func popDue(at now: Instant) -> Set<EffectKey> {
        var due: Set<EffectKey> = []
        while let entry = agenda.popDue(at: now) {
            if lines[entry.item]?.due == entry.due { due.insert(entry.item) }
        }
        return due
    }

    /// Takes the first of a line.
    mutating func popFirst(of key: EffectKey) -> GroupTable.Place? {
        guard let first = lines[key]?.members.first else { return nil }
        lines[key]?.members.removeFirst()
        if lines[key]?.members.first == nil { lines[key] = nil }
        return first
    }

    /// Takes one out of turn, which costs the length of the line; `due` returns until when one of them waits.
    mutating func leave(_ place: GroupTable.Place, _ key: EffectKey, due: (GroupTable.Place) -> Instant?) {
        lines[key]?.members.removeAll { $0 == place }
        guard let last = lines[key]?.members.elements.compactMap(due).max() else {
            lines[key] = nil
            return
        }
        // As if the one that left had never waited, which is what a disk knows of it.
        lines[key]?.due = last
        schedule(key)
    }

    /// Dissolves all lines and returns who waited.
    mutating func removeAll() -> [GroupTable.Place] {
        let members = lines.values.flatMap(\.members.elements)
        (lines, agenda) = ([:], Agenda())
        return members
    }

    /// When the first line is due.
    mutating func firstDue() -> Instant? {
        let lines = lines
        return agenda.firstDue { lines[$0.item]?.due == $0.due }
    }

    private mutating func schedule(_ key: EffectKey) {
        guard let due = lines[key]?.due else { return }
        let lines = lines
        agenda.insert(key, due: due, live: lines.count) { lines[$0.item]?.due == $0.due }
    }
}
