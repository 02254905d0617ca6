internal import RelayCore

/// Keys of a table in the order in which they came to their state, for forgetting the oldest.
///
/// A key that leaves the state, or comes to it again, leaves its entry behind, out of date: the table keeps the stamp of
/// the current one.
struct AgeList: Sendable {
    /// A key with the stamp that its table keeps.
    struct Entry: Sendable {
        let key: EffectKey
        let stamp: UInt64
    }

    private var entries: [Entry] = []
    private var start = 0
    private var lastStamp: UInt64 = 0

    /// Creates a list of entries as they were stamped.
    init(_ entries: [Entry] = []) {
        self.entries = entries.sorted { $0.stamp < $1.stamp }
        lastStamp = self.entries.last?.stamp ?? 0
    }

    /// How many entries there are, those that are out of date included.
    var count: Int { entries.count - start }

    /// Appends a key and returns its stamp; `live` is how many can be current at most.
    mutating func append(_ key: EffectKey, live: Int, isCurrent: (Entry) -> Bool) -> UInt64 {
        if count > 2 * live + 64 {
            entries = entries[start...].filter(isCurrent)
            start = 0
        }
        lastStamp += 1
        entries.append(Entry(key: key, stamp: lastStamp))
        return lastStamp
    }

    /// Takes the oldest current entry.
    mutating func popOldest(isCurrent: (Entry) -> Bool) -> EffectKey? {
        while start < entries.count {
            let entry = entries[start]
            start += 1
            if start > entries.count / 2 {
                entries.removeFirst(start)
                start = 0
            }
            if isCurrent(entry) { return entry.key }
        }
        return nil
    }
}
