internal import RelayCore

/// The deliveries of all sinks, in memory.
struct MemoryOutbox: DeliveryStore {
    /// The deliveries by serial.
    private struct Shelf: DeliveryShelf {
        /// Some 300 bytes stand apart, since a table is up to two thirds empty and grows by being copied.
        private final class Stored: Sendable {
            let delivery: Delivery

            init(_ delivery: Delivery) {
                self.delivery = delivery
            }
        }

        private var deliveries: [UInt64: Stored] = [:]

        mutating func put(_ delivery: Delivery, serial: UInt64) { deliveries[serial] = Stored(delivery) }

        func delivery(_ serial: UInt64) -> Delivery? { deliveries[serial]?.delivery }

        mutating func remove(_ serial: UInt64) { deliveries[serial] = nil }
    }

    /// Whose turn it is.
    private var index: Outbox
    private var shelf = Shelf()

    /// Creates an empty outbox, in which every sink has a share of this size.
    init(limits: OutboxShare.Limits) {
        index = Outbox(limits: limits)
    }

    /// What became of the effects of the deliveries so far, by sink.
    var counters: [String: SinkCounters] { index.counters }

    /// What found no room.
    var fullCounts: [OutboxFullCount] { index.fullCounts }

    func holds(_ key: String, sink: String) -> Bool { index.holds(key, sink: sink) }

    mutating func store(_ delivery: Delivery, serial: UInt64, at now: Instant) throws(JournalFailure) -> Bool {
        try index.store(delivery, serial: serial, at: now, on: &shelf)
    }

    mutating func claim(
        _ request: ClaimRequest, at now: Instant, ledger: inout Ledger
    ) throws(JournalFailure) -> ClaimBatch {
        try index.claim(request, at: now, ledger: &ledger, on: &shelf)
    }

    mutating func settle(_ settlements: [SettledClaim], at now: Instant) -> Int {
        index.settle(settlements, at: now)
    }

    mutating func giveUp(sink: String, acceptedBy limit: Instant, at now: Instant) -> GivenUp {
        index.giveUp(sink: sink, acceptedBy: limit, at: now)
    }

    func entries(_ selection: OutboxSelection, limit: Int) throws(JournalFailure) -> [OutboxEntry] {
        try index.entries(selection, limit: limit, on: shelf)
    }

    mutating func retry(
        _ selection: OutboxSelection, to sink: String?, at now: Instant, ledger: inout Ledger
    ) throws(JournalFailure) -> Int {
        guard let sink else { return index.retry(selection, at: now) }
        return try index.retry(selection, to: sink, at: now, ledger: &ledger, on: &shelf)
    }

    mutating func drop(_ selection: OutboxSelection, at now: Instant) -> Int {
        index.drop(selection, at: now)
    }

    /// Takes away what need not be kept, and takes the sinks whose bells are to ring.
    mutating func tidy() -> Set<String> {
        for (_, row) in index.takeChanges().rows where row.isEnded { shelf.remove(row.serial) }
        return index.takeRung()
    }

    /// Forgets everything.
    mutating func removeAll() {
        index = Outbox(limits: index.limits)
        shelf = Shelf()
    }
}
