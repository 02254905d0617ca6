internal import RelayCore

/// The dead letters in the order in which they died, for forgetting the oldest.
struct DeadLetters: Sendable {
    private struct Entry: Sendable {
        let serial: UInt64
        let diedAt: Instant
    }

    private var order: [Entry] = []
    private var start = 0
    private var count = 0
    private var bytes = 0

    /// Adds one that has died.
    mutating func add(_ serial: UInt64, at diedAt: Instant, bytes: Int) {
        order.append(Entry(serial: serial, diedAt: diedAt))
        count += 1
        self.bytes += bytes
    }

    /// Notes that one is none any more.
    mutating func remove(bytes: Int) {
        count -= 1
        self.bytes -= bytes
    }

    /// Takes the oldest one if there are more than may be; it is to be forgotten then.
    mutating func oldestBeyond(_ limits: OutboxShare.Limits, isDead: (UInt64, Instant) -> Bool) -> UInt64? {
        // Those that were taken back leave their entries behind.
        if order.count - start > 2 * count + 64 {
            order = order[start...].filter { isDead($0.serial, $0.diedAt) }
            start = 0
        }
        guard count > limits.dead || (bytes > limits.bytes && count > 0) else { return nil }
        while start < order.count {
            let entry = order[start]
            start += 1
            if start > order.count / 2 {
                order.removeFirst(start)
                start = 0
            }
            if isDead(entry.serial, entry.diedAt) { return entry.serial }
        }
        return nil
    }
}
