internal import RelayCore

/// The outbox of a journal file: the index in memory, the deliveries on disk.
struct StoredOutbox: DeliveryStore {
    /// The deliveries of the file, and those that the next commit stores.
    struct Shelf: DeliveryShelf {
        let store: OutboxStore
        /// New deliveries by serial.
        var new: [UInt64: Delivery] = [:]

        mutating func put(_ delivery: Delivery, serial: UInt64) {
            new[serial] = delivery
        }

        func delivery(_ serial: UInt64) throws(JournalFailure) -> Delivery? {
            if let delivery = new[serial] { return delivery }
            do throws(DatabaseFault) {
                return try store.delivery(serial)
            } catch {
                throw .unavailable(error.description)
            }
        }
    }

    /// Whose turn it is.
    var index: Outbox
    var shelf: Shelf

    func holds(_ key: String, sink: String) -> Bool { index.holds(key, sink: sink) }

    mutating func store(_ delivery: Delivery, serial: UInt64, at now: Instant) throws(JournalFailure) -> Bool {
        try index.store(delivery, serial: serial, at: now, on: &shelf)
    }

    mutating func claim(
        _ request: ClaimRequest, at now: Instant, ledger: inout Ledger
    ) throws(JournalFailure) -> ClaimBatch {
        try index.claim(request, at: now, ledger: &ledger, on: &shelf)
    }

    mutating func retry(
        _ selection: OutboxSelection, to sink: String?, at now: Instant, ledger: inout Ledger
    ) throws(JournalFailure) -> Int {
        guard let sink else { return index.retry(selection, at: now) }
        return try index.retry(selection, to: sink, at: now, ledger: &ledger, on: &shelf)
    }
}

/// What the disk has of each sink beside its deliveries.
struct OutboxSums {
    private(set) var counters: [String: SinkCounters] = [:]
    private(set) var pauses: [String: Instant] = [:]

    /// Takes what was read.
    init(_ images: [String: OutboxImage] = [:]) {
        counters = images.mapValues(\.counters)
        pauses = images.compactMapValues(\.pausedUntil)
    }

    /// Takes what was written.
    mutating func add(_ writes: OutboxWrites) {
        counters.merge(writes.counters) { $1 }
        pauses.merge(writes.pauses) { $1 }
    }
}

/// What of the outbox is otherwise than on disk.
///
/// What a commit did not take stays for the next one: a delivery that was made is not made again because the disk was
/// full. There is at most one row for each delivery of the outbox.
struct OutboxWrites {
    private struct FullKey: Hashable {
        let sink: String
        let rule: String
        let hour: Instant
    }

    private(set) var rows: [UInt64: OutboxStore.Stored] = [:]
    private(set) var counters: [String: SinkCounters] = [:]
    private(set) var pauses: [String: Instant] = [:]
    private var fullCounts: [FullKey: OutboxFullCount] = [:]

    var isEmpty: Bool { rows.isEmpty && counters.isEmpty && pauses.isEmpty && fullCounts.isEmpty }

    var full: some Collection<OutboxFullCount> { fullCounts.values }

    /// Adds what changed since; the last change of a row counts.
    ///
    /// Counters and pauses are told of sinks of which something *may* have changed; `former` says which are as they were.
    mutating func add(_ changes: Outbox.Changes, former: OutboxSums) {
        for (sink, row) in changes.rows { rows[row.serial] = OutboxStore.Stored(sink: sink, row: row) }
        for (sink, counters) in changes.counters where former.counters[sink] != counters {
            self.counters[sink] = counters
        }
        for (sink, until) in changes.pauses where former.pauses[sink] != until { pauses[sink] = until }
        for count in changes.full {
            fullCounts[FullKey(sink: count.sink, rule: count.rule, hour: count.hour)] = count
        }
    }

    /// Returns what the disk has with what it does not have yet.
    func applied(to images: [String: OutboxImage]) -> [OutboxImage] {
        var images = images
        for sink in images.keys { images[sink]?.rows.removeAll { rows[$0.serial] != nil } }
        for stored in rows.values {
            images[stored.sink, default: OutboxImage(sink: stored.sink)].rows.append(stored.row)
        }
        for (sink, counters) in counters { images[sink, default: OutboxImage(sink: sink)].counters = counters }
        for (sink, until) in pauses { images[sink, default: OutboxImage(sink: sink)].pausedUntil = until }
        for (key, count) in fullCounts {
            images[key.sink]?.full.removeAll { $0.rule == key.rule && $0.hour == key.hour }
            if count.count > 0 { images[key.sink, default: OutboxImage(sink: key.sink)].full.append(count) }
        }
        return Array(images.values)
    }
}
