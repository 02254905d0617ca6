/// Takes what can be read of a damaged file into a new one, row by row; the history stays behind.
struct Salvage {
    /// A table with the columns that are copied, those of its key first.
    private struct Table {
        let name: String
        let columns: [String]
        /// How many columns the key has; zero for one number, in which a hole can be stepped over.
        let keys: Int
        let count: WritableKeyPath<Salvaged, Int>?

        init(_ name: String, _ columns: String, keys: Int = 0, count: WritableKeyPath<Salvaged, Int>? = nil) {
            self.name = name
            self.columns = columns.split(separator: ",").map { $0.filter { !$0.isWhitespace } }
            self.keys = keys
            self.count = count
        }

        var list: String { columns.joined(separator: ", ") }
    }

    private static var tables: [Table] {
        [
            Table("meta", "name, value", keys: 1, count: \.rows),
            Table("stream", "name, cursor", keys: 1, count: \.streams),
            Table("seen", "id, stream, ids"),
            Table("limit_key", "key, row", keys: 1, count: \.rows),
            Table("repeat_key", "key, row", keys: 1, count: \.rows),
            Table("gathering", "serial, row", count: \.rows),
            Table("briefing", "serial, row", count: \.rows),
            Table("item", "place, row", count: \.rows),
            Table("silence", "id, row", count: \.rows),
            Table("receipt", "rule, sink, receipt, count", keys: 3, count: \.rows),
            Table("counter", "part, sink, effects, delivered, suppressed, pending, dead", keys: 2, count: \.rows),
            Table("outbox_full", "sink, rule, hour, count, untold", keys: 3, count: \.rows),
            Table("pause", "sink, until", keys: 1, count: \.rows),
            Table("body", "serial, content"),
            Table("delivery", OutboxStore.columns),
        ]
    }

    private let source: Database?
    private let destination: Database
    private var salvaged = Salvaged()
    /// Why the new file takes nothing.
    private var failure: DatabaseFault?

    /// Holes after which a table is left.
    private static let mostFaults = 1000

    /// Opens the damaged file at a path, if SQLite does.
    init(from path: String, vfs: String?, into destination: Database) {
        source = try? Database(path, .readOnly, vfs: vfs)
        self.destination = destination
    }

    /// Copies all tables, in one transaction.
    ///
    /// - Throws: `DatabaseFault` if the new file does not take it.
    mutating func run() throws(DatabaseFault) -> Salvaged {
        guard let source else { return Salvaged(faults: 1) }
        var copy = self
        try destination.transaction { () throws(DatabaseFault) in
            for table in Self.tables { copy.copy(table, from: source) }
            if let failure = copy.failure { throw failure }
            try copy.pair()
        }
        return copy.salvaged
    }

    /// Drops deliveries without a text, and texts without a delivery.
    private mutating func pair() throws(DatabaseFault) {
        try destination.run("DELETE FROM delivery WHERE serial NOT IN (SELECT serial FROM body)")
        try destination.run("DELETE FROM body WHERE serial NOT IN (SELECT serial FROM delivery)")
        salvaged.deliveries = try destination.number("SELECT count(*) FROM delivery").map { Int($0) } ?? 0
    }

    private mutating func copy(_ table: Table, from source: Database) {
        if table.keys == 0 { return copyNumbered(table, from: source) }
        // From both ends, up to the hole.
        for order in ["ASC", "DESC"] {
            let keys = table.columns.prefix(table.keys).map { "\($0) \(order)" }.joined(separator: ", ")
            let sql = "SELECT \(table.list) FROM \(table.name) ORDER BY \(keys)"
            if rows(of: source, sql, { _ in }, { $0.insert($1, into: table) }) { return }
            salvaged.faults += 1
        }
    }

    /// Copies a table in the order of its numbers, stepping over what cannot be read, ever further.
    private mutating func copyNumbered(_ table: Table, from source: Database) {
        let sql = "SELECT \(table.list) FROM \(table.name) WHERE \(table.columns[0]) >= ? ORDER BY 1"
        var next: Int64 = 0
        var step: Int64 = 1
        for _ in 0..<Self.mostFaults {
            let start = next
            let isDone = rows(of: source, sql) {
                $0.bind(start)
            } _: { copy, row in
                copy.insert(row, into: table)
                next = row.int(0) == .max ? .max : row.int(0) + 1
                step = 1
            }
            if isDone { return }
            salvaged.faults += 1
            let (further, isTooFar) = next.addingReportingOverflow(step)
            guard !isTooFar, step < .max / 2 else { return }
            next = further
            step *= 2
        }
    }

    /// Runs a query over the damaged file; returns whether it came to its end.
    private mutating func rows(
        of source: Database, _ sql: String, _ bind: (Statement) -> Void,
        _ body: (inout Salvage, Row) -> Void
    ) -> Bool {
        do throws(DatabaseFault) {
            try source.each(sql, bind) { body(&self, $0) }
            return true
        } catch {
            return false
        }
    }

    private mutating func insert(_ row: Row, into table: Table) {
        guard failure == nil else { return }
        let places = table.columns.map { _ in "?" }.joined(separator: ", ")
        do throws(DatabaseFault) {
            // What the new file has of its own stays: its schema and its program.
            try destination.run("INSERT OR IGNORE INTO \(table.name)(\(table.list)) VALUES(\(places))") { statement in
                for column in table.columns.indices { statement.bind(column: Int32(column), of: row) }
            }
            if let count = table.count { salvaged[keyPath: count] += destination.changes }
        } catch {
            failure = error
        }
    }
}
