internal import RelayCore

/// The tables of deliveries: what is pending and the dead letters with their bodies, what left the outbox without.
struct OutboxStore {
    let database: Database

    /// The columns of `delivery` in the order in which `read` reads them.
    static let columns = """
        serial, place, sink, rule, key, state, at, accepted_at, attempts, unsettled, aside, foldable, moved, error,
        effects, bytes, successor, last_event
        """

    /// Where a delivery stands, as the column `state` says it; the time that belongs to it is in `at`.
    enum State: Int {
        case due = 0
        case waiting = 1
        case claimed = 2
        case dead = 3
        case delivered = 4
        case folded = 5
        case forgotten = 6

        /// The least number of a state in which the body is gone.
        static var firstEnded: Int { State.delivered.rawValue }
    }

    // MARK: Writing, as parts of a transaction

    /// Stores a new delivery, which can tell of events up to `lastEvent`.
    func insert(_ row: OutboxRow, of sink: String, _ delivery: Delivery, lastEvent: UInt64) throws(DatabaseFault) {
        if !row.isEnded {
            try database.run("INSERT OR REPLACE INTO body(serial, content) VALUES(?, ?)") {
                $0.bind(row.serial)
                $0.bind(RowWriter.encode(DeliveryBody(delivery)))
            }
        }
        let sql = """
            INSERT OR REPLACE INTO delivery(\(Self.columns))
            VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        try database.run(sql) { statement in
            let stored = StoredState(row.state)
            statement.bind(row.serial)
            statement.bind(row.place)
            for text in [sink, row.rule, row.key] { statement.bind(text) }
            statement.bind(stored.state.rawValue)
            statement.bind(optional: stored.at?.milliseconds)
            statement.bind(row.acceptedAt.milliseconds)
            Self.bindProgress(of: row, to: statement)
            statement.bind(row.effects)
            statement.bind(row.byteCount)
            statement.bind(optional: stored.successor)
            statement.bind(lastEvent)
        }
    }

    /// Writes what changes of a delivery; the body goes when it leaves the outbox, and the row too unless it is kept.
    func update(_ row: OutboxRow, keepsEnded: Bool) throws(DatabaseFault) {
        if row.isEnded {
            try database.run("DELETE FROM body WHERE serial = ?") { $0.bind(row.serial) }
            if !keepsEnded {
                return try database.run("DELETE FROM delivery WHERE serial = ?") { $0.bind(row.serial) }
            }
        }
        let sql = """
            UPDATE delivery SET state = ?, at = ?, accepted_at = ?, attempts = ?, unsettled = ?, aside = ?, foldable = ?,
            moved = ?, error = ?, successor = ? WHERE serial = ?
            """
        try database.run(sql) { statement in
            let stored = StoredState(row.state)
            statement.bind(stored.state.rawValue)
            statement.bind(optional: stored.at?.milliseconds)
            statement.bind(row.acceptedAt.milliseconds)
            Self.bindProgress(of: row, to: statement)
            statement.bind(optional: stored.successor)
            statement.bind(row.serial)
        }
    }

    private static func bindProgress(of row: OutboxRow, to statement: Statement) {
        statement.bind(row.attempts)
        statement.bind(row.unsettledClaims)
        for flag in [row.isAside, row.isFoldable, row.isMoved] { statement.bind(flag ? 1 : 0) }
        statement.bind(optional: row.lastError)
    }

    /// Writes what found no room; a count of nothing is gone.
    func write(_ full: OutboxFullCount) throws(DatabaseFault) {
        if full.count == 0 {
            return try database.run("DELETE FROM outbox_full WHERE sink = ? AND rule = ? AND hour = ?") {
                Self.bindKey(of: full, to: $0)
            }
        }
        let sql = "INSERT OR REPLACE INTO outbox_full(sink, rule, hour, count, untold) VALUES(?, ?, ?, ?, ?)"
        try database.run(sql) {
            Self.bindKey(of: full, to: $0)
            $0.bind(full.count)
            $0.bind(full.untold)
        }
    }

    /// Writes until when the service of a sink wants nothing.
    func pause(_ sink: String, until: Instant) throws(DatabaseFault) {
        try database.run("INSERT OR REPLACE INTO pause(sink, until) VALUES(?, ?)") {
            $0.bind(sink)
            $0.bind(until.milliseconds)
        }
    }

    private static func bindKey(of full: OutboxFullCount, to statement: Statement) {
        statement.bind(full.sink)
        statement.bind(full.rule)
        statement.bind(full.hour.milliseconds)
    }

    // MARK: Reading

    /// Reads what is in the outbox, by sink.
    func images() throws(DatabaseFault) -> [String: OutboxImage] {
        var images: [String: OutboxImage] = [:]
        for (sink, counters) in try LedgerStore(database: database).counters(part: "outbox") {
            images[sink] = OutboxImage(sink: sink, counters: counters)
        }
        // Only what is in the outbox has a body, and those are few beside what the history keeps.
        try database.each("SELECT \(Self.columns) FROM delivery WHERE serial IN (SELECT serial FROM body)") { row in
            guard let read = Self.read(row), !read.row.isEnded else { return }
            images[read.sink, default: OutboxImage(sink: read.sink)].rows.append(read.row)
        }
        try database.each("SELECT sink, rule, hour, count, untold FROM outbox_full") { row in
            let full = OutboxFullCount(
                sink: row.text(0), rule: row.text(1), hour: Instant(milliseconds: row.int(2)), count: row.count(3),
                untold: row.count(4))
            images[full.sink, default: OutboxImage(sink: full.sink)].full.append(full)
        }
        try database.each("SELECT sink, until FROM pause") { row in
            images[row.text(0), default: OutboxImage(sink: row.text(0))].pausedUntil = Instant(milliseconds: row.int(1))
        }
        return images.mapValues(\.reconciled)
    }

    /// Returns a delivery whole; nil if its body is not there, or damaged.
    func delivery(_ serial: UInt64) throws(DatabaseFault) -> Delivery? {
        let sql = """
            SELECT delivery.key, delivery.sink, body.content FROM body JOIN delivery USING(serial) WHERE serial = ?
            """
        return try database.first(sql) {
            $0.bind(serial)
        } _: { row in
            let body = try? RowReader.decode(DeliveryBody.self, row.bytes(2))
            return try? body?.delivery(key: row.text(0), sink: row.text(1))
        } ?? nil
    }

    /// A row of `delivery`.
    struct Stored {
        let sink: String
        let row: OutboxRow
    }

    /// Reads a row of `columns`; nil if its state is unknown.
    static func read(_ row: Row) -> Stored? {
        guard let state = State(rawValue: row.count(5)) else { return nil }
        var read = OutboxRow(
            serial: row.unsigned(0), place: row.unsigned(1), key: row.text(4), rule: row.text(3),
            effects: row.count(14),
            byteCount: row.count(15), acceptedAt: Instant(milliseconds: row.int(7)), isFoldable: row.int(11) != 0)
        (read.attempts, read.unsettledClaims) = (row.count(8), row.count(9))
        (read.isAside, read.isMoved) = (row.int(10) != 0, row.int(12) != 0)
        read.lastError = row.isNull(13) ? nil : row.text(13)
        read.state = StoredState(
            state: state, at: row.isNull(6) ? nil : Instant(milliseconds: row.int(6)),
            successor: row.isNull(16) ? nil : row.unsigned(16)
        ).state(of: read)
        return Stored(sink: row.text(2), row: read)
    }
}

/// A state as three columns.
private struct StoredState {
    var state: OutboxStore.State
    var at: Instant?
    var successor: UInt64?

    init(state: OutboxStore.State, at: Instant?, successor: UInt64?) {
        (self.state, self.at, self.successor) = (state, at, successor)
    }

    init(_ state: OutboxRow.State) {
        switch state {
        case .due: self.init(state: .due, at: nil, successor: nil)
        case .waiting(let until): self.init(state: .waiting, at: until, successor: nil)
        case .claimed(let until): self.init(state: .claimed, at: until, successor: nil)
        case .dead(let at): self.init(state: .dead, at: at, successor: nil)
        case .ended(.delivered, let at): self.init(state: .delivered, at: at, successor: nil)
        case .ended(.folded(let serial), let at): self.init(state: .folded, at: at, successor: serial)
        case .ended(.forgotten, let at): self.init(state: .forgotten, at: at, successor: nil)
        }
    }

    func state(of row: OutboxRow) -> OutboxRow.State {
        let at = at ?? row.acceptedAt
        return switch state {
        case .due: .due
        case .waiting: .waiting(until: at)
        case .claimed: .claimed(until: at)
        case .dead: .dead(at: at)
        case .delivered: .ended(.delivered, at: at)
        case .folded: .ended(.folded(into: successor ?? 0), at: at)
        case .forgotten: .ended(.forgotten, at: at)
        }
    }
}

extension OutboxImage {
    /// The image with effects that were pending in a row that is lost among the dead.
    fileprivate var reconciled: OutboxImage {
        var image = self
        image.counters = counters.withPending(rows.reduce(0) { $1.isPending ? $0 + $1.effects : $0 })
        return image
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
