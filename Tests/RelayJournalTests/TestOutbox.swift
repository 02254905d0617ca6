import RelayCore
import RelayJournal

/// An outbox with what a journal would have stored of it, for restarts.
struct TestOutbox: DeliveryStore {
    /// Deliveries by serial.
    struct Shelf: DeliveryShelf {
        var deliveries: [UInt64: Delivery] = [:]

        mutating func put(_ delivery: Delivery, serial: UInt64) { deliveries[serial] = delivery }
        func delivery(_ serial: UInt64) -> Delivery? { deliveries[serial] }
    }

    private let limits: OutboxShare.Limits
    private(set) var index: Outbox
    var shelf = Shelf()
    /// The rows of what is in the outbox, as of the last commit.
    private(set) var rows: [UInt64: (sink: String, row: OutboxRow)] = [:]
    private(set) var counters: [String: SinkCounters] = [:]
    private var full: [String: [OutboxFullCount]] = [:]
    /// What was refused since the last commit.
    private(set) var refused: [Delivery] = []

    init(limits: OutboxShare.Limits = OutboxShare.Limits()) {
        self.limits = limits
        index = Outbox(limits: limits, recordsAll: true)
    }

    func holds(_ key: String, sink: String) -> Bool { index.holds(key, sink: sink) }

    mutating func store(_ delivery: Delivery, serial: UInt64, at now: Instant) throws(JournalFailure) -> Bool {
        let isStored = try index.store(delivery, serial: serial, at: now, on: &shelf)
        if !isStored { refused.append(delivery) }
        return isStored
    }

    mutating func claim(
        _ request: ClaimRequest, at now: Instant, ledger: inout Ledger
    ) throws(JournalFailure) -> ClaimBatch {
        try index.claim(request, at: now, ledger: &ledger, on: &shelf)
    }

    mutating func settle(_ claims: [Claim], _ settlement: Settlement, at now: Instant) -> Int {
        index.settle(claims.map { SettledClaim($0, settlement) }, at: now)
    }

    mutating func giveUp(sink: String, acceptedBy limit: Instant, at now: Instant) -> GivenUp {
        index.giveUp(sink: sink, acceptedBy: limit, at: now)
    }

    mutating func retry(
        _ selection: OutboxSelection, to sink: String?, at now: Instant, ledger: inout Ledger
    ) throws(JournalFailure) -> Int {
        guard let sink else { return index.retry(selection, at: now) }
        return try index.retry(selection, to: sink, at: now, ledger: &ledger, on: &shelf)
    }

    mutating func drop(_ selection: OutboxSelection, at now: Instant) -> Int { index.drop(selection, at: now) }

    func entries(_ selection: OutboxSelection = OutboxSelection()) throws -> [OutboxEntry] {
        try index.entries(selection, limit: .max, on: shelf)
    }

    /// Stores what changed; returns the rows that changed, with what they deliver.
    mutating func commit() -> [(row: OutboxRow, delivery: Delivery)] {
        let changes = index.takeChanges()
        var changed: [(row: OutboxRow, delivery: Delivery)] = []
        for (sink, row) in changes.rows {
            if let delivery = shelf.deliveries[row.serial] { changed.append((row, delivery)) }
            rows[row.serial] = row.isEnded ? nil : (sink, row)
            if row.isEnded { shelf.deliveries[row.serial] = nil }
        }
        counters.merge(changes.counters) { $1 }
        for count in changes.full {
            full[count.sink, default: []].removeAll { $0.rule == count.rule && $0.hour == count.hour }
            if count.count > 0 { full[count.sink, default: []].append(count) }
        }
        refused = []
        return changed
    }

    /// Makes the index again from what was stored, in a new process or in this one.
    mutating func restore(inNewProcess isNew: Bool, at now: Instant) {
        let sinks = Set(counters.keys).union(rows.values.map(\.sink)).union(full.keys)
        let images = sinks.map { sink in
            OutboxImage(
                sink: sink, rows: rows.values.filter { $0.sink == sink }.map(\.row).shuffled(),
                counters: counters[sink] ?? SinkCounters(), full: full[sink] ?? [])
        }
        index = Outbox(limits: limits, images: images, former: isNew ? nil : index, at: now)
    }
}
