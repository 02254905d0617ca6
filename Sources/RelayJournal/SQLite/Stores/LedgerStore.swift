internal import RelayCore

/// The tables of the ledger.
struct LedgerStore {
    let database: Database

    /// How many places of items a gathering has.
    private static let places: UInt64 = 1 << 14

    // MARK: Writing

    /// Writes what became otherwise; part of a transaction.
    func write(_ changes: LedgerChanges) throws(DatabaseFault) {
        if let plan = changes.plan { try write("plan", plan) }
        try write("limit_key", removed: changes.limits.removed, stored: changes.limits.stored)
        try write("repeat_key", removed: changes.repeats.removed, stored: changes.repeats.stored)
        try write("gathering", changes.groups)
        try write("briefing", changes.briefings)
        for item in changes.items { try write(item) }
        if let silences = changes.silences { try write("silences", silences) }
        for receipt in changes.receipts { try write(receipt) }
        for row in changes.sinks { try write(row.counters, of: row.sink, part: "ledger") }
        if let totals = changes.totals { try write("totals", totals) }
    }

    func write(_ name: String, _ value: some StoredValue) throws(DatabaseFault) {
        try Schema.setMeta(name, database) { $0.bind(RowWriter.encode(value)) }
    }

    private func write<Row: StoredValue & Identifiable<EffectKey>>(
        _ table: String, removed: [EffectKey], stored: [Row]
    ) throws(DatabaseFault) {
        for key in removed { try database.run("DELETE FROM \(table) WHERE key = ?") { $0.bind(key.bytes) } }
        for row in stored {
            try database.run("INSERT OR REPLACE INTO \(table)(key, row) VALUES(?, ?)") {
                $0.bind(row.id.bytes)
                $0.bind(RowWriter.encode(row))
            }
        }
    }

    private func write<Row: StoredValue & Identifiable<UInt64>>(
        _ table: String, _ changes: RowChanges<Row>
    ) throws(DatabaseFault) {
        for serial in changes.removed {
            try database.run("DELETE FROM \(table) WHERE serial = ?") { $0.bind(serial) }
            try database.run("DELETE FROM item WHERE place >= ? AND place < ?") {
                $0.bind(serial &* Self.places)
                $0.bind((serial &+ 1) &* Self.places)
            }
        }
        for row in changes.stored {
            try database.run("INSERT OR REPLACE INTO \(table)(serial, row) VALUES(?, ?)") {
                $0.bind(row.id)
                $0.bind(RowWriter.encode(row))
            }
        }
    }

    private func write(_ item: ItemRow) throws(DatabaseFault) {
        try database.run("INSERT OR REPLACE INTO item(place, row) VALUES(?, ?)") {
            $0.bind(item.serial &* Self.places &+ UInt64(clamping: item.place))
            $0.bind(RowWriter.encode(Gathering.Item(item.event, rule: item.rule)))
        }
    }

    private func write(_ receipt: ReceiptCount) throws(DatabaseFault) {
        try database.run("INSERT OR REPLACE INTO receipt(rule, sink, receipt, count) VALUES(?, ?, ?, ?)") {
            $0.bind(receipt.rule)
            $0.bind(receipt.sink)
            $0.bind(receipt.receipt.rawValue)
            $0.bind(receipt.count)
        }
    }

    /// Writes the counters that one part of the journal, `ledger` or `outbox`, keeps of a sink.
    func write(_ counters: SinkCounters, of sink: String, part: String) throws(DatabaseFault) {
        let sql = """
            INSERT OR REPLACE INTO counter(part, sink, effects, delivered, suppressed, pending, dead)
            VALUES(?, ?, ?, ?, ?, ?, ?)
            """
        try database.run(sql) {
            $0.bind(part)
            $0.bind(sink)
            for number in [
                counters.effects, counters.delivered, counters.suppressed, counters.pending, counters.dead,
            ] { $0.bind(number) }
        }
    }

    // MARK: Reading

    /// What a file held of a ledger.
    struct Image {
        /// The rows that could be read.
        var ledger = LedgerImage()
        /// How many rows could not be.
        var damaged = 0
    }

    /// Reads all tables of the ledger.
    func read() throws(DatabaseFault) -> Image {
        var image = Image()
        image.ledger.plan = try meta("plan", &image.damaged)
        image.ledger.silences = try meta("silences", &image.damaged) ?? SilenceRows()
        image.ledger.totals = try meta("totals", &image.damaged) ?? LedgerTotals()
        image.ledger.limits = try rows("limit_key", &image.damaged)
        image.ledger.repeats = try rows("repeat_key", &image.damaged)
        image.ledger.groups = try rows("gathering", &image.damaged)
        image.ledger.briefings = try rows("briefing", &image.damaged)
        image.ledger.items = try items(&image.damaged)
        image.ledger.receipts = try receipts()
        image.ledger.sinks = try counters(part: "ledger").map { SinkRow(sink: $0, counters: $1) }
        image.reconcile()
        return image
    }

    private func meta<Value: StoredValue>(
        _ name: String, _ damaged: inout Int
    ) throws(DatabaseFault) -> Value? {
        let bytes = try database.first("SELECT value FROM meta WHERE name = ?") {
            $0.bind(name)
        } _: {
            $0.bytes(0)
        }
        return bytes.flatMap { Self.decode($0, &damaged) }
    }

    private func rows<Value: StoredValue>(_ table: String, _ damaged: inout Int) throws(DatabaseFault) -> [Value] {
        var values: [Value] = []
        try database.each("SELECT row FROM \(table)") { row in
            if let value: Value = Self.decode(row.bytes(0), &damaged) { values.append(value) }
        }
        return values
    }

    private func items(_ damaged: inout Int) throws(DatabaseFault) -> [ItemRow] {
        var items: [ItemRow] = []
        try database.each("SELECT place, row FROM item ORDER BY place") { row in
            guard let item: Gathering.Item = Self.decode(row.bytes(1), &damaged) else { return }
            items.append(Self.item(item, place: row.unsigned(0)))
        }
        return items
    }

    private static func item(_ item: Gathering.Item, place: UInt64) -> ItemRow {
        ItemRow(serial: place / places, place: Int(place % places), event: item.event, rule: item.rule)
    }

    static func decode<Value: StoredValue>(_ bytes: [UInt8], _ damaged: inout Int) -> Value? {
        do {
            return try RowReader.decode(Value.self, bytes)
        } catch {
            damaged += 1
            return nil
        }
    }

    private func receipts() throws(DatabaseFault) -> [ReceiptCount] {
        var receipts: [ReceiptCount] = []
        try database.each("SELECT rule, sink, receipt, count FROM receipt") { row in
            guard let receipt = Receipt(rawValue: row.text(2)) else { return }
            receipts.append(
                ReceiptCount(rule: row.text(0), sink: row.text(1), receipt: receipt, count: row.count(3)))
        }
        return receipts
    }

    /// Reads the counters that one part of the journal keeps.
    func counters(part: String) throws(DatabaseFault) -> [String: SinkCounters] {
        var counters: [String: SinkCounters] = [:]
        let sql = "SELECT sink, effects, delivered, suppressed, pending, dead FROM counter WHERE part = ?"
        try database.each(sql) {
            $0.bind(part)
        } _: { row in
            var sink = SinkCounters()
            (sink.effects, sink.delivered, sink.suppressed) = (row.count(1), row.count(2), row.count(3))
            (sink.pending, sink.dead) = (row.count(4), row.count(5))
            counters[row.text(0)] = sink
        }
        return counters
    }
}

extension LedgerStore.Image {
    /// Makes the counters those of what could be read: effects that were pending in a row that is lost are dead.
    fileprivate mutating func reconcile() {
        var pending: [String: Int] = [:]
        for group in ledger.groups { pending[group.scope.sink, default: 0] += group.tally.count }
        for briefing in ledger.briefings { pending[briefing.sink, default: 0] += briefing.tally.count }
        let serials = Set(ledger.groups.map(\.serial)).union(ledger.briefings.map(\.serial))
        ledger.items.removeAll { !serials.contains($0.serial) }
        var counters = Dictionary(ledger.sinks.map { ($0.sink, $0.counters) }) { first, _ in first }
        for sink in pending.keys where counters[sink] == nil { counters[sink] = SinkCounters() }
        ledger.sinks = counters.map { SinkRow(sink: $0, counters: $1.withPending(pending[$0] ?? 0)) }
    }
}

extension SinkCounters {
    /// Returns the counters with as many pending as there are: those that are missing are dead, and the sum holds.
    func withPending(_ found: Int) -> SinkCounters {
        var counters = self
        counters.dead += max(0, pending - found)
        counters.pending = found
        counters.effects = counters.delivered + counters.suppressed + counters.pending + counters.dead
        return counters
    }
}

extension EffectKey {
    /// The key as bytes.
    var bytes: [UInt8] {
        var writer: [UInt8] = []
        writer.reserveCapacity(16)
        for word in [high, low] {
            for shift in stride(from: 0, to: 64, by: 8) { writer.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        return writer
    }
}
