package import RelayCore

/// What a journal stored of one sink's share.
package struct OutboxImage: Sendable {
    /// The name of the sink.
    package var sink: String
    /// The pending deliveries and the dead letters, in any order; others are passed over.
    package var rows: [OutboxRow]
    /// The counters, of which those of pending effects are counted anew.
    package var counters: SinkCounters
    /// What found no room.
    package var full: [OutboxFullCount]
    /// Until when the service wanted nothing at all.
    package var pausedUntil: Instant?

    /// Creates an image of a sink that does not pause.
    package init(
        sink: String, rows: [OutboxRow] = [], counters: SinkCounters = SinkCounters(), full: [OutboxFullCount] = []
    ) {
        self.sink = sink
        self.rows = rows
        self.counters = counters
        self.full = full
    }
}

extension OutboxShare {
    /// No retry is further off: longer than the longest backoff and the longest pause.
    static let longestWait = Duration.seconds(3600)

    /// Fills an empty share with what was stored of it.
    ///
    /// All claims are released, but for those that `former` knows of the same process; five that were never settled in
    /// a row make a delivery dead. A time in the future counts as now, and a retry that is further off than any can be
    /// comes earlier.
    mutating func restore(_ image: OutboxImage, former: OutboxShare?, at now: Instant) {
        var claimed: [UInt64: UInt64] = [:]
        for (token, serial) in former?.claims ?? [:] { claimed[serial] = token }
        queue = former?.queue ?? OutboxOrder()
        for var row in image.rows.sorted(by: { $0.serial < $1.serial }) {
            row.acceptedAt = min(row.acceptedAt, now)
            switch row.state {
            case .due: insert(row)
            case .waiting(let until):
                row.state = .waiting(until: min(until, now + Self.longestWait))
                insert(row)
            case .claimed:
                insert(row)
                if let token = claimed[row.serial] { claims[token] = row.serial }
            case .dead, .ended: break
            }
        }
        let dead = image.rows.filter(\.isDead).sorted { ($0.diedAt, $0.serial) < ($1.diedAt, $1.serial) }
        for row in dead { insertDead(row) }
        resume(image.counters)
        for row in image.rows where row.isClaimed && claimed[row.serial] == nil { takeBack(row.serial, at: now) }
        forgetOldest(at: now)
    }
}

extension OutboxRow {
    /// When a dead letter died.
    fileprivate var diedAt: Instant {
        if case .dead(let diedAt) = state { diedAt } else { acceptedAt }
    }
}
