internal import RelayCore

/// What is due when, as a table that changes its mind leaves it behind: an entry may be out of date.
///
/// Whoever asks says which entries are current. Those that are not are dropped when they come up, or when they are
/// more than half, so that the agenda is never much larger than its table.
struct Agenda<Item: Sendable>: Sendable {
    /// A thing with its time.
    struct Entry: Comparable, Sendable {
        let due: Instant
        let item: Item

        static func < (left: Entry, right: Entry) -> Bool { left.due < right.due }
        static func == (left: Entry, right: Entry) -> Bool { left.due == right.due }
    }

    private var heap = Heap<Entry>()

    /// How many entries there are, those that are out of date included.
    var count: Int { heap.elements.count }

    /// Adds an entry; `live` is how many can be current at most.
    mutating func insert(_ item: Item, due: Instant, live: Int, isCurrent: (Entry) -> Bool) {
        if count > 2 * live + 64 { heap.removeAll { !isCurrent($0) } }
        heap.insert(Entry(due: due, item: item))
    }

    /// Takes the first entry that is due, current or not.
    mutating func popDue(at now: Instant) -> Entry? {
        guard let first = heap.first, first.due <= now else { return nil }
        heap.removeFirst()
        return first
    }

    /// Returns when the first current entry is due.
    mutating func firstDue(isCurrent: (Entry) -> Bool) -> Instant? {
        while let first = heap.first {
            if isCurrent(first) { return first.due }
            heap.removeFirst()
        }
        return nil
    }
}
