package import RelayCore

/// The ids that a stream has brought lately: the first of equal events is new, the others are not.
///
/// Bounded by count alone: at the bound the oldest id is forgotten for each new one, whatever its age. It grows with
/// what it holds, so an idle relay does not pay for it.
///
/// The ids lie in a ring. They are found through buckets of eight, newest first, each of them one line of the cache:
/// that line is all that a new id touches. Nothing is deleted, since an entry whose id has left the ring is told by its
/// number, and goes when eight newer ones have come. The hash is seeded: nobody can choose ids that collide.
package struct SeenEvents: ~Copyable {
    /// The ids, oldest first from `oldest` on, in a circle once it is full.
    private var ring: [EventID] = []
    private var oldest = 0
    private var buckets = SeenBuckets(count: SeenEvents.fewestBuckets)
    /// Entries of ids in the ring that nine or more ids of one bucket have pushed out, by bucket: about one in 200.
    private var spilled: [Int: [UInt32]] = [:]
    /// The number of the newest id; that of an empty entry, 0, is as far from the first one as can be.
    private var newest: UInt32 = 1 << 31
    private var lastLoad: UInt32 = 0
    private var hashes = [UInt64](repeating: 0, count: SeenEvents.loadedAtOnce)
    private let seed: UInt64
    /// The number of ids that are remembered.
    package let capacity: Int

    /// How many ids of a stream are remembered.
    package static let standardCapacity = StreamProgress.mostSeen
    private static let largestCapacity = 1 << 24 - 1
    private static let fewestBuckets = 32
    private static let loadedAtOnce = 256

    /// Creates an empty memory for `capacity` ids, at least one and at most 16 million.
    ///
    /// `seed` is a random number, drawn anew for each run.
    package init(capacity: Int = SeenEvents.standardCapacity, seed: UInt64) {
        self.capacity = min(max(capacity, 1), Self.largestCapacity)
        self.seed = seed
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

    /// Returns whether `id` is remembered.
    package func contains(_ id: EventID) -> Bool {
        let hash = hash(id)
        let bucket = buckets[place(of: hash)]
        return finds(id, in: bucket, Self.tag(of: hash)) || hasSpilled(id, from: bucket, at: place(of: hash))
    }

    /// Remembers the ids of `records` and removes the records whose ids are remembered already; those without an id of
    /// the server stay.
    ///
    /// - Returns: how many were removed.
    package mutating func removeSeen(from records: inout [EventRecord]) -> Int {
        makeRoom(for: records.count)
        var kept = 0
        var start = 0
        while start < records.count {
            let end = min(start + Self.loadedAtOnce, records.count)
            load(records, start..<end)
            for index in start..<end {
                // By field: a copy of the record takes longer than the look-up.
                if records[index].hasServerID, !insert(records[index].identity, hashes[index - start]) { continue }
                if kept != index { records[kept] = records[index] }
                kept += 1
            }
            start = end
        }
        let removed = records.count - kept
        if removed > 0 { records.removeLast(removed) }
        return removed
    }

    /// Hashes the ids of some records and reads the buckets that they will need.
    ///
    /// The buckets do not fit into the cache, and here many loads wait for memory at once, not one after the other.
    private mutating func load(_ records: [EventRecord], _ range: Range<Int>) {
        // Kept, or the compiler would see that nobody needs it.
        lastLoad = Self.load(records, range, from: buckets, into: &hashes, seed)
    }

    private static func load(
        _ records: [EventRecord], _ range: Range<Int>, from buckets: borrowing SeenBuckets,
        into hashes: inout [UInt64], _ seed: UInt64
    ) -> UInt32 {
        var all: UInt32 = 0
        // Through a span: each store into an array asks whether it is shared.
        var hashes = hashes.mutableSpan
        for index in range {
            let hash = hash(records[index].identity, seed)
            hashes[index - range.lowerBound] = hash
            all |= buckets.load(place(of: hash, in: buckets.count))
        }
        return all
    }

    @inline(__always)
    private mutating func insert(_ id: EventID, _ hash: UInt64) -> Bool {
        let place = place(of: hash)
        let bucket = buckets[place]
        if finds(id, in: bucket, Self.tag(of: hash)) { return false }
        if isRemembered(bucket.oldestNumber) {
            if hasSpilled(id, from: bucket, at: place) { return false }
        }
        if ring.count < capacity {
            ring.append(id)
        } else {
            ring[oldest] = id
            oldest = oldest + 1 == capacity ? 0 : oldest + 1
        }
        newest &+= 1
        add(newest, Self.tag(of: hash), to: place, after: bucket)
        return true
    }

    /// Puts an entry in front of the others of its bucket, whose last one goes.
    @inline(__always)
    private mutating func add(_ number: UInt32, _ tag: UInt32, to place: Int, after old: SeenBucket) {
        // By the new count: the id that has just been forgotten does not spill.
        if isRemembered(old.oldestNumber) { spill(old.oldestNumber, at: place) }
        buckets[place] = old.adding(number, tag: tag)
    }

    /// Returns whether the id with this number is still in the ring.
    @inline(__always)
    private func isRemembered(_ number: UInt32) -> Bool { Int(newest &- number) < ring.count }

    @inline(__always)
    private func finds(_ id: EventID, in bucket: SeenBucket, _ tag: UInt32) -> Bool {
        guard bucket.mayHold(tag) else { return false }
        return (0..<8).contains { bucket.tag($0) == tag && isNumber(bucket.number($0), of: id) }
    }

    private func isNumber(_ number: UInt32, of id: EventID) -> Bool {
        guard isRemembered(number) else { return false }
        let place = oldest + ring.count - 1 - Int(newest &- number)
        return ring[place < ring.count ? place : place - ring.count] == id
    }

    // MARK: What does not fit

    /// Returns whether `id` was pushed out of its bucket and is still in the ring; then all that is there is newer.
    private func hasSpilled(_ id: EventID, from bucket: SeenBucket, at place: Int) -> Bool {
        guard isRemembered(bucket.oldestNumber), let numbers = spilled[place] else { return false }
        return numbers.contains { isNumber($0, of: id) }
    }

    @inline(never)
    private mutating func spill(_ number: UInt32, at place: Int) {
        let numbers = spilled[place, default: []].filter { isRemembered($0) }
        spilled[place] = numbers + [number]
        // Those of other buckets have mostly been forgotten by now.
        if spilled.count > 64 + buckets.count / 16 {
            spilled = spilled.filter { $0.value.contains { isRemembered($0) } }
        }
    }

    // MARK: The buckets

    /// Makes buckets until there are three ids in one on average, with `count` more ids.
    private mutating func makeRoom(for count: Int) {
        let needed = min(ring.count + count, capacity)
        guard needed > Self.room(in: buckets.count) else { return }
        var size = buckets.count
        while needed > Self.room(in: size) { size *= 2 }
        buckets = SeenBuckets(count: size)
        spilled = [:]
        var number = newest &- UInt32(ring.count)
        for id in ids {
            number &+= 1
            let hash = hash(id)
            add(number, Self.tag(of: hash), to: place(of: hash), after: buckets[place(of: hash)])
        }
    }

    private static func room(in buckets: Int) -> Int { buckets * 13 / 4 }

    private func hash(_ id: EventID) -> UInt64 { Self.hash(id, seed) }

    @inline(__always)
    private static func hash(_ id: EventID, _ seed: UInt64) -> UInt64 {
        let product = (id.high ^ seed).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        let second = (product.high ^ product.low ^ id.low).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93 ^ seed | 1)
        return second.high ^ second.low
    }

    private func place(of hash: UInt64) -> Int { Self.place(of: hash, in: buckets.count) }

    @inline(__always)
    private static func place(of hash: UInt64, in count: Int) -> Int { Int(truncatingIfNeeded: hash) & (count - 1) }

    private static func tag(of hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) }
}
