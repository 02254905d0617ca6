/// The deliveries of one rule that may be folded, in the order accepted; some may have left already.
struct Backlog: Sendable {
    private var all: [UInt64] = []
    private var start = 0
    /// How many of them are still there.
    var count = 0

    /// Those that are there, as of the last time it was compacted.
    var serials: ArraySlice<UInt64> { all[start...] }

    /// Adds a delivery.
    mutating func append(_ serial: UInt64) {
        all.append(serial)
        count += 1
    }

    /// Drops those that have left.
    ///
    /// They mostly leave in order, so it costs as much as left since the last time.
    mutating func compact(isThere: (UInt64) -> Bool) {
        while start < all.count, !isThere(all[start]) { start += 1 }
        if all.count - start > count { all = all[start...].filter(isThere) } else { return dropFront() }
        start = 0
    }

    private mutating func dropFront() {
        guard start > all.count / 2 else { return }
        all.removeFirst(start)
        start = 0
    }
}
