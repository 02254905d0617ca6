internal import CSQLite

/// A prepared statement, which is bound from left to right, stepped, and reset.
///
/// The C type is `sqlite3_stmt`. SQLite copies what is bound, once.
final class Statement {
    private let statement: OpaquePointer
    private let database: OpaquePointer
    private var bound: Int32 = 0
    /// The first failure of a binding, told by the next step.
    private var fault: Int32 = SQLITE_OK

    /// Prepares a statement that is kept for long (`sqlite3_prepare_v3`).
    init(_ sql: String, on database: OpaquePointer) throws(DatabaseFault) {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else {
            throw DatabaseFault("sqlite3_prepare_v3", code: code, message: String(cString: sqlite3_errmsg(database)))
        }
        self.statement = statement
        self.database = database
    }

    deinit {
        sqlite3_finalize(statement)
    }

    // MARK: Binding

    /// Binds the next parameter to a number (`sqlite3_bind_int64`).
    func bind(_ number: some BinaryInteger) {
        note(sqlite3_bind_int64(statement, next(), Int64(truncatingIfNeeded: number)))
    }

    /// Binds the next parameter to a text (`sqlite3_bind_text`).
    func bind(_ text: String) {
        var text = text
        text.withUTF8 { note(relay_sqlite_bind_text(statement, next(), $0.baseAddress, Int32(clamping: $0.count))) }
    }

    /// Binds the next parameter to bytes (`sqlite3_bind_blob`).
    func bind(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { bytes in
            // A null pointer would be bound as NULL.
            guard let start = bytes.baseAddress, !bytes.isEmpty else {
                return note(sqlite3_bind_zeroblob(statement, next(), 0))
            }
            note(relay_sqlite_bind_blob(statement, next(), start, Int32(clamping: bytes.count)))
        }
    }

    /// Binds the next parameter to bytes.
    func bind(_ bytes: [UInt8]) {
        bind(bytes.span.bytes)
    }

    /// Binds the next parameter to nothing (`sqlite3_bind_null`).
    func bindNull() {
        note(sqlite3_bind_null(statement, next()))
    }

    /// Binds the next parameter to a value of another statement's row (`sqlite3_bind_value`).
    func bind(column: Int32, of row: Row) {
        note(sqlite3_bind_value(statement, next(), sqlite3_column_value(row.statement, column)))
    }

    private func next() -> Int32 {
        bound += 1
        return bound
    }

    private func note(_ code: Int32) {
        if code != SQLITE_OK, fault == SQLITE_OK { fault = code }
    }

    // MARK: Running

    /// Goes on to the next row; returns false after the last one (`sqlite3_step`).
    func step() throws(DatabaseFault) -> Bool {
        if fault != SQLITE_OK {
            throw DatabaseFault("sqlite3_bind", code: fault, message: String(cString: sqlite3_errstr(fault)))
        }
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            throw DatabaseFault("sqlite3_step", code: code, message: String(cString: sqlite3_errmsg(database)))
        }
    }

    /// Makes the statement ready to be bound again (`sqlite3_reset`, `sqlite3_clear_bindings`).
    func reset() {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
        bound = 0
        fault = SQLITE_OK
    }

    /// The row that the last step came to, until the next one.
    var row: Row { Row(statement: statement) }
}

/// A row of a result, good until its statement steps on.
///
/// A value of another type than asked for is converted by SQLite; it never fails.
struct Row {
    fileprivate let statement: OpaquePointer

    /// Returns a number (`sqlite3_column_int64`).
    func int(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    /// Returns a number that was stored as its bits.
    func unsigned(_ column: Int32) -> UInt64 { UInt64(bitPattern: int(column)) }

    /// Returns a count, at least zero, whatever is stored.
    func count(_ column: Int32) -> Int { max(0, Int(int(column))) }

    /// Whether there is no value (`sqlite3_column_type`).
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    /// Returns a text, in which ill-formed bytes become U+FFFD (`sqlite3_column_text`).
    func text(_ column: Int32) -> String { withBytes(column) { String(decoding: $0, as: UTF8.self) } }

    /// Returns bytes.
    func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

    /// Runs `body` with bytes, without a copy of them (`sqlite3_column_blob`).
    func withSpan<Result>(_ column: Int32, _ body: (RawSpan) -> Result) -> Result {
        withBytes(column) { body($0.bytes) }
    }

    private func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // In this order: asking for the bytes can convert the value, which changes their count.
        let start = sqlite3_column_blob(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }
}
