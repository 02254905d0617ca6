internal import RelayCore

/// What a delivery came to, as its row says it; the numbers are those of the column.
enum StoredState: Int {
    /// To be delivered.
    case pending = 0
    /// Given up, with its text.
    case dead = 1
    case delivered = 2
    /// Given up, and its text deleted.
    case dropped = 3
    /// Given up, with its text copied into a delivery to another sink.
    case moved = 4
    /// Folded into a digest with others.
    case folded = 5

    /// The least number of a state in which the body is gone.
    static var firstSettled: Int { StoredState.delivered.rawValue }

    /// Whether the body is gone.
    var isSettled: Bool { rawValue >= Self.firstSettled }
}

/// The columns of a delivery, without its body.
struct DeliveryRow: Equatable {
    var serial: UInt64
    var key: String
    var sink: String
    var rule: String
    var state = StoredState.pending
    var attempts = 0
    /// How many claims ended without a settlement.
    var unsettledClaims = 0
    var acceptedAt: Instant
    /// When it may be attempted again.
    var due: Instant?
    var settledAt: Instant?
    var error: String?
    var effects: Int
    var byteCount: Int
    /// The number of the last event that it can tell of.
    var lastEvent: UInt64
    /// The serial of the delivery that took its place.
    var successor: UInt64?
}

/// The tables of deliveries.
struct OutboxStore {
    let database: Database

    /// The columns of `delivery` in the order in which `row` reads them.
    static let columns = """
        serial, key, sink, rule, state, attempts, unsettled, accepted_at, due_at, settled_at, error, effects, bytes,
        last_event, successor
        """

    // MARK: Writing, as parts of a transaction

    /// Stores a delivery.
    func insert(_ row: DeliveryRow, _ delivery: Delivery) throws(DatabaseFault) {
        try database.run("INSERT INTO body(serial, content) VALUES(?, ?)") {
            $0.bind(row.serial)
            $0.bind(RowWriter.encode(DeliveryBody(delivery)))
        }
        let sql = "INSERT INTO delivery(\(Self.columns)) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        try database.run(sql) {
            $0.bind(row.serial)
            $0.bind(row.key)
            $0.bind(row.sink)
            $0.bind(row.rule)
            $0.bind(row.state.rawValue)
            $0.bind(row.attempts)
            $0.bind(row.unsettledClaims)
            $0.bind(row.acceptedAt.milliseconds)
            $0.bind(optional: row.due?.milliseconds)
            $0.bind(optional: row.settledAt?.milliseconds)
            $0.bind(optional: row.error)
            $0.bind(row.effects)
            $0.bind(row.byteCount)
            $0.bind(row.lastEvent)
            $0.bind(optional: row.successor)
        }
    }

    /// Writes the columns that change; the body goes when the delivery is settled, and the row too if none shall stay.
    func update(_ row: DeliveryRow, keepsSettled: Bool) throws(DatabaseFault) {
        if row.state.isSettled {
            try database.run("DELETE FROM body WHERE serial = ?") { $0.bind(row.serial) }
            if !keepsSettled {
                return try database.run("DELETE FROM delivery WHERE serial = ?") { $0.bind(row.serial) }
            }
        }
        let sql = """
            UPDATE delivery SET state = ?, attempts = ?, unsettled = ?, due_at = ?, settled_at = ?, error = ?,
            successor = ? WHERE serial = ?
            """
        try database.run(sql) {
            $0.bind(row.state.rawValue)
            $0.bind(row.attempts)
            $0.bind(row.unsettledClaims)
            $0.bind(optional: row.due?.milliseconds)
            $0.bind(optional: row.settledAt?.milliseconds)
            $0.bind(optional: row.error)
            $0.bind(optional: row.successor)
            $0.bind(row.serial)
        }
    }

    // MARK: Reading

    /// Calls `body` with each delivery that has a body, in the order of serials.
    func eachHeld(_ body: (DeliveryRow) -> Void) throws(DatabaseFault) {
        let sql = "SELECT \(Self.columns) FROM delivery WHERE serial IN (SELECT serial FROM body) ORDER BY serial"
        try database.each(sql) { row in
            if let row = Self.row(row), !row.state.isSettled { body(row) }
        }
    }

    /// Returns a delivery whole, if its body is there; a body that is damaged is nil.
    func delivery(_ serial: UInt64, key: String, sink: String) throws(DatabaseFault) -> Delivery? {
        let bytes = try database.first("SELECT content FROM body WHERE serial = ?") {
            $0.bind(serial)
        } _: {
            $0.bytes(0)
        }
        guard let bytes else { return nil }
        do throws(DamagedRow) {
            return try RowReader.decode(DeliveryBody.self, bytes).delivery(key: key, sink: sink)
        } catch {
            return nil
        }
    }

    /// Reads a row of `columns`; nil if its state is unknown.
    static func row(_ row: Row) -> DeliveryRow? {
        guard let state = StoredState(rawValue: row.count(4)) else { return nil }
        var delivery = DeliveryRow(
            serial: row.unsigned(0), key: row.text(1), sink: row.text(2), rule: row.text(3), state: state,
            acceptedAt: Instant(milliseconds: row.int(7)), effects: row.count(11), byteCount: row.count(12),
            lastEvent: row.unsigned(13))
        (delivery.attempts, delivery.unsettledClaims) = (row.count(5), row.count(6))
        delivery.due = row.isNull(8) ? nil : Instant(milliseconds: row.int(8))
        delivery.settledAt = row.isNull(9) ? nil : Instant(milliseconds: row.int(9))
        delivery.error = row.isNull(10) ? nil : row.text(10)
        delivery.successor = row.isNull(14) ? nil : row.unsigned(14)
        return delivery
    }
}

extension Statement {
    fileprivate func bind(optional number: (some BinaryInteger)?) {
        if let number { bind(number) } else { bindNull() }
    }

    fileprivate func bind(optional text: String?) {
        if let text { bind(text) } else { bindNull() }
    }
}
