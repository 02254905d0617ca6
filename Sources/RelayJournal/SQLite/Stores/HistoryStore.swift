internal import RelayCore

/// The tables of the history: accepted events with what became of them, in the order of their receipt.
///
/// It only grows at its end and shrinks at its front, so that freed pages serve what comes next and the file stays as
/// large as it is.
struct HistoryStore {
    let database: Database
    /// The number of the last event that was recorded.
    private(set) var lastEvent: UInt64
    /// The number of the last event that the file had when it was read.
    let storedEvent: UInt64
    /// The number below which no event is left.
    private var firstEvent: UInt64
    /// The serial up to which no settled delivery is left.
    private(set) var prunedSerial: UInt64 = 0

    /// The most text that is kept of an event, in bytes.
    static let mostBytesOfEvent = 16_384
    /// The most events that one commit removes.
    static let slice = 256

    /// Finds out where the history begins and ends; `floor` is the last number that is known to have been given.
    init(_ database: Database, floor: UInt64) throws(DatabaseFault) {
        self.database = database
        storedEvent = try database.number("SELECT max(id) FROM event").map { UInt64(bitPattern: $0) } ?? 0
        lastEvent = max(storedEvent, floor)
        firstEvent = try database.number("SELECT min(id) FROM event").map { UInt64(bitPattern: $0) } ?? lastEvent + 1
    }

    // MARK: Recording

    /// Records an event with its effects; part of a transaction.
    mutating func record(_ event: Event, _ effects: [RecordedEffect], at wall: Instant) throws(DatabaseFault) {
        lastEvent += 1
        let event = event.cutForHistory
        let sql = """
            INSERT INTO event(id, received_at, stream, identity, kind, actor, effects) VALUES(?, ?, ?, ?, ?, ?, ?)
            """
        try database.run(sql) { statement in
            statement.bind(lastEvent)
            statement.bind(wall.milliseconds)
            statement.bind(event.stream)
            statement.bind(StoredIDs.bytes(of: CollectionOfOne(event.record.identity)))
            statement.bind(event.string(of: event.record.kind) ?? "")
            if let actor = event.string(of: event.record.actor) { statement.bind(actor) } else { statement.bindNull() }
            statement.bind(RowWriter.encode(RecordedEffects(effects)))
        }
        try database.run("INSERT INTO content(id, event) VALUES(?, ?)") {
            $0.bind(lastEvent)
            $0.bind(RowWriter.encode(event))
        }
    }

    /// Records what became of groups and briefings; part of a transaction, after its events.
    func record(_ closings: [ClosingRow], at relay: Instant) throws(DatabaseFault) {
        for closing in closings {
            let sql = "INSERT OR REPLACE INTO closing(serial, fate, closed_at, last_event) VALUES(?, ?, ?, ?)"
            try database.run(sql) {
                $0.bind(closing.serial)
                $0.bind(RowWriter.encode(closing.fate))
                $0.bind(relay.milliseconds)
                $0.bind(lastEvent)
            }
        }
    }

    // MARK: Pruning

    /// When the oldest event was received; nil if there is none.
    func oldest() throws(DatabaseFault) -> Instant? {
        let first = try database.number("SELECT received_at FROM event WHERE id >= ? ORDER BY id LIMIT 1") {
            $0.bind(firstEvent)
        }
        return first.map { Instant(milliseconds: $0) }
    }

    /// Removes a slice of what is too old or too much; part of a transaction.
    mutating func prune(
        _ policy: HistoryPolicy, usedBytes: Int, atLeast count: Int, at wall: Instant
    ) throws(DatabaseFault) {
        let limit = policy.isOff ? Instant.distantFuture : wall + (.zero - policy.keep)
        try database.run("DELETE FROM unrecorded WHERE hour < ?") { $0.bind(limit.hour) }
        let isOver = policy.isOff || usedBytes > policy.most
        guard let end = try endOfSlice(limit: limit, isOver: isOver, count: max(count, Self.slice)) else { return }
        for table in ["event", "content"] {
            try database.run("DELETE FROM \(table) WHERE id < ?") { $0.bind(end) }
        }
        firstEvent = end
        try database.run("DELETE FROM closing WHERE last_event < ?") { $0.bind(end) }
        try pruneDeliveries(count: 4 * max(count, Self.slice))
    }

    /// Returns the number of the first event that stays; nil if all do.
    private func endOfSlice(limit: Instant, isOver: Bool, count: Int) throws(DatabaseFault) -> UInt64? {
        guard firstEvent <= lastEvent, let oldest = try oldest(), isOver || oldest < limit else { return nil }
        var end: UInt64?
        var isInside = true
        try database.each("SELECT id, received_at FROM event WHERE id >= ? ORDER BY id LIMIT ?") {
            $0.bind(firstEvent)
            $0.bind(count)
        } _: { row in
            isInside = isInside && (isOver || row.int(1) < limit.milliseconds)
            if isInside { end = row.unsigned(0) + 1 }
        }
        return end
    }

    /// Removes settled deliveries that tell of no event that is left.
    private mutating func pruneDeliveries(count: Int) throws(DatabaseFault) {
        let sql = """
            SELECT max(serial) FROM (
                SELECT serial, last_event FROM delivery WHERE serial > ? ORDER BY serial LIMIT ?
            ) WHERE last_event < ?
            """
        let end = try database.number(sql) {
            $0.bind(prunedSerial)
            $0.bind(count)
            $0.bind(firstEvent)
        }
        guard let end else { return }
        try database.run("DELETE FROM delivery WHERE serial > ? AND serial <= ? AND state >= ?") {
            $0.bind(prunedSerial)
            $0.bind(end)
            $0.bind(OutboxStore.State.firstEnded)
        }
        prunedSerial = UInt64(bitPattern: end)
    }
}

extension Event {
    /// The event as the history keeps it.
    var cutForHistory: Event {
        let ranges = [record.id, record.kind, record.actor, record.post, record.text, record.link, record.raw]
        let count = ranges.reduce(0) { $0 + Int($1.count) }
        return count > HistoryStore.mostBytesOfEvent ? cut(to: HistoryStore.mostBytesOfEvent, keepsRaw: true) : self
    }

    /// Returns a field as a string; nil if it is absent.
    func string(of range: TextRange) -> String? {
        guard range.isPresent else { return nil }
        return withBytes(of: range) { span in
            span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
    }
}
