internal import CSQLite

/// A connection to a database file, for one thread at a time.
///
/// The C type is `sqlite3`. Statements are prepared once and kept; all texts of statements are the program's own, so
/// there are few.
final class Database {
    /// How a file is opened.
    enum Access {
        /// To read and write; it is made if there is none.
        case readWrite
        /// To read only, beside whoever writes it.
        case readOnly
    }

    /// The path of the file.
    let path: String
    private let connection: OpaquePointer
    private var statements: [String: Statement] = [:]

    /// Opens a file (`sqlite3_open_v2`); `vfs` names another system layer, as tests have one.
    init(_ path: String, _ access: Access, vfs: String? = nil) throws(DatabaseFault) {
        let flags =
            access == .readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var connection: OpaquePointer?
        let code = sqlite3_open_v2(path, &connection, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs)
        guard code == SQLITE_OK, let connection else {
            let text = connection.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
            sqlite3_close_v2(connection)
            throw DatabaseFault("sqlite3_open_v2", code: code, message: text)
        }
        self.path = path
        self.connection = connection
        sqlite3_busy_timeout(connection, Self.patience)
        relay_sqlite_harden(connection)
    }

    /// How long a call waits for another process, in milliseconds: a reader that checkpoints takes that long at most.
    private static let patience: Int32 = 5000

    deinit {
        // Statements hold the connection, so they go first.
        statements.removeAll()
        sqlite3_close_v2(connection)
    }

    /// Runs statements that return nothing and take nothing (`sqlite3_exec`).
    func execute(_ sql: String) throws(DatabaseFault) {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw fault("sqlite3_exec", code) }
    }

    /// Runs one statement to its end, with the values that `bind` gives it.
    func run(_ sql: String, _ bind: (Statement) -> Void = { _ in }) throws(DatabaseFault) {
        try each(sql, bind) { _ in }
    }

    /// Runs one statement, and calls `body` with each row.
    func each(
        _ sql: String, _ bind: (Statement) -> Void = { _ in }, _ body: (Row) -> Void
    ) throws(DatabaseFault) {
        let statement = try statement(sql)
        defer { statement.reset() }
        bind(statement)
        while try statement.step() { body(statement.row) }
    }

    /// Runs one statement and returns what `read` makes of its first row; nil if there is none.
    func first<Result>(
        _ sql: String, _ bind: (Statement) -> Void = { _ in }, _ read: (Row) -> Result
    ) throws(DatabaseFault) -> Result? {
        let statement = try statement(sql)
        defer { statement.reset() }
        bind(statement)
        return try statement.step() ? read(statement.row) : nil
    }

    /// Returns the number in the first column of the first row; nil if there is no row, or no number in it.
    func number(_ sql: String, _ bind: (Statement) -> Void = { _ in }) throws(DatabaseFault) -> Int64? {
        try first(sql, bind) { $0.isNull(0) ? nil : $0.int(0) } ?? nil
    }

    /// How many rows the last statement changed (`sqlite3_changes`).
    var changes: Int { Int(sqlite3_changes(connection)) }

    /// Whether SQLite will not write the file, by its permissions or by its header (`sqlite3_db_readonly`).
    var isReadOnly: Bool { sqlite3_db_readonly(connection, "main") != 0 }

    /// Runs `body` in one transaction, which is rolled back if it fails.
    func transaction(_ body: () throws(DatabaseFault) -> Void) throws(DatabaseFault) {
        try run("BEGIN IMMEDIATE")
        do throws(DatabaseFault) {
            try body()
            try run("COMMIT")
        } catch {
            // SQLite may have rolled back by itself. A roll-back that fails leaves nothing that could be done.
            if sqlite3_get_autocommit(connection) == 0 { sqlite3_exec(connection, "ROLLBACK", nil, nil, nil) }
            throw error
        }
    }

    private func statement(_ sql: String) throws(DatabaseFault) -> Statement {
        if let statement = statements[sql] { return statement }
        let statement = try Statement(sql, on: connection)
        statements[sql] = statement
        return statement
    }

    private func fault(_ function: String, _ code: Int32) -> DatabaseFault {
        DatabaseFault(function, code: code, message: String(cString: sqlite3_errmsg(connection)))
    }
}
