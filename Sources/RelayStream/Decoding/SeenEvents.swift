package import RelayCore

/// The ids that a stream has brought lately: the first of equal events is new, the others are not.
///
/// Bounded by count alone: at the bound the oldest id is forgotten for each new one, whatever its age. It grows with
/// what it holds, so an idle relay does not pay for it.
///
/// Open addressing with linear probing. A slot has 40 bits of the hash and the id's place in the ring, so the ring is
/// read only when these bits agree; deletion shifts back, so there are no tombstones. The hash is seeded: nobody can
/// choose ids that collide.
package struct SeenEvents: ~Copyable {
    /// The ids, oldest first from `oldest` on, in a circle once it is full.
    private var ring: [EventID] = []
    /// The table, at most half full: hash bits above, the place in the ring plus one below; 0 for a free slot.
    private var slots: [UInt64]
    private var mask: Int
    private var oldest = 0
    private var lastLoad: UInt64 = 0
    private let seed: UInt64
    /// The number of ids that are remembered.
    package let capacity: Int

    private static let placeBits: UInt64 = 24
    private static let placeMask: UInt64 = 1 << placeBits - 1
    private static let fewestSlots = 256

    /// Creates an empty memory for `capacity` ids, at least one and at most 16 million.
    ///
    /// `seed` is a random number, drawn anew for each run.
    package init(capacity: Int = 100_000, seed: UInt64) {
        self.capacity = min(max(capacity, 1), Int(Self.placeMask) - 1)
        self.seed = seed
        slots = [UInt64](repeating: 0, count: Self.fewestSlots)
        mask = Self.fewestSlots - 1
    }

    /// The number of ids in memory.
    package var count: Int { ring.count }

    /// The ids in memory, oldest first, to be stored and inserted again after a restart.
    package var ids: [EventID] { Array(ring[oldest...] + ring[..<oldest]) }

    /// Remembers `id`; returns false, and changes nothing, if it is remembered already.
    package mutating func insert(_ id: EventID) -> Bool {
        makeRoom(for: 1)
        return insert(id, hash(id))
    }

    /// Remembers the ids of `records` and removes the records whose ids are remembered already; those without an id of
    /// the server stay.
    ///
    /// - Returns: how many were removed.
    package mutating func removeSeen(from records: inout [EventRecord]) -> Int {
        makeRoom(for: records.count)
        load(slotsOf: records)
        var kept = 0
        for index in records.indices {
            let record = records[index]
            if record.hasServerID, !insert(record.identity, hash(record.identity)) { continue }
            if kept != index { records[kept] = record }
            kept += 1
        }
        let removed = records.count - kept
        records.removeLast(removed)
        return removed
    }

    /// Reads the slots that the ids of `records`, and the ids forgotten for them, will need.
    ///
    /// The table is larger than the cache, and here many loads wait for memory at once, not one after the other.
    private mutating func load(slotsOf records: [EventRecord]) {
        var all: UInt64 = 0
        for record in records { all |= slots[home(hash(record.identity))] }
        if ring.count == capacity {
            var place = oldest
            for _ in records.indices {
                all |= slots[home(hash(ring[place]))]
                place = place + 1 == capacity ? 0 : place + 1
            }
        }
        // Kept, or the compiler would see that nobody needs it.
        lastLoad = all
    }

    private mutating func insert(_ id: EventID, _ hash: UInt64) -> Bool {
        var index = home(hash)
        while slots[index] != 0 {
            if slots[index] ^ hash <= Self.placeMask, ring[place(slots[index])] == id { return false }
            index = (index + 1) & mask
        }
        if ring.count < capacity {
            ring.append(id)
            slots[index] = hash | UInt64(ring.count)
        } else {
            replaceOldest(id, hash)
        }
        return true
    }

    /// Returns whether `id` is remembered.
    package func contains(_ id: EventID) -> Bool {
        let hash = hash(id)
        var index = home(hash)
        while slots[index] != 0 {
            if slots[index] ^ hash <= Self.placeMask, ring[place(slots[index])] == id { return true }
            index = (index + 1) & mask
        }
        return false
    }

    private mutating func replaceOldest(_ id: EventID, _ hash: UInt64) {
        let place = oldest
        oldest = place + 1 == capacity ? 0 : place + 1
        let old = self.hash(ring[place]) | UInt64(place + 1)
        ring[place] = id
        let mask = mask
        // A span checks once that the array is not shared, not at every write.
        var table = slots.mutableSpan
        Self.remove(old, from: &table, mask)
        // The removal may have opened a nearer slot than the search saw.
        Self.put(hash | UInt64(place + 1), into: &table, mask)
    }

    private static func put(_ slot: UInt64, into table: inout MutableSpan<UInt64>, _ mask: Int) {
        var index = home(slot, mask)
        while table[index] != 0 { index = (index + 1) & mask }
        table[index] = slot
    }

    /// Frees the slot that holds `slot`, and moves back what only came to lie behind because it was taken.
    private static func remove(_ slot: UInt64, from table: inout MutableSpan<UInt64>, _ mask: Int) {
        var free = home(slot, mask)
        while table[free] != slot { free = (free + 1) & mask }
        var index = free
        while true {
            index = (index + 1) & mask
            let candidate = table[index]
            if candidate == 0 { break }
            if (index &- home(candidate, mask)) & mask >= (index &- free) & mask {
                table[free] = candidate
                free = index
            }
        }
        table[free] = 0
    }

    /// Grows the table until it is at most half full with `count` more ids.
    private mutating func makeRoom(for count: Int) {
        let needed = min(ring.count + count, capacity) * 2
        guard needed > slots.count else { return }
        let old = slots
        var size = slots.count
        while size < needed { size *= 2 }
        slots = [UInt64](repeating: 0, count: size)
        mask = size - 1
        var table = slots.mutableSpan
        for slot in old where slot != 0 { Self.put(slot, into: &table, size - 1) }
    }

    private func hash(_ id: EventID) -> UInt64 {
        let product = (id.high ^ seed).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        let second = (product.high ^ product.low ^ id.low).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93 ^ seed | 1)
        return (second.high ^ second.low) << Self.placeBits
    }

    private func home(_ slot: UInt64) -> Int { Self.home(slot, mask) }

    private static func home(_ slot: UInt64, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: slot >> placeBits) & mask
    }

    private func place(_ slot: UInt64) -> Int { Int(slot & Self.placeMask) - 1 }
}
