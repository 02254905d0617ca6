/// The tables of a journal file, and the steps that bring an older file to them.
enum Schema {
    /// The version that this program writes.
    static var version: Int { steps.count }

    /// Step `n` makes version `n + 1` of version `n`; a step that was released never changes.
    private static let steps = [first]

    /// Brings the file to the version of this program, in one transaction; `program` is this program's own version.
    ///
    /// - Throws: `DatabaseFault` of kind `newerSchema` if a later program wrote the file.
    static func migrate(_ database: Database, program: String) throws(DatabaseFault) {
        let found = try version(of: database)
        guard found <= version else { throw try newer(found, database) }
        guard found < version else { return }
        // Tables without a version: the name of the one that has it is damaged.
        if found == 0, try database.number("SELECT count(*) FROM sqlite_schema") ?? 0 > 0 { throw damaged }
        try database.transaction { () throws(DatabaseFault) in
            for step in steps[found...] { try database.execute(step) }
            try setMeta("schema", database) { $0.bind(version) }
            try setMeta("program", database) { $0.bind(program) }
        }
    }

    /// Checks that this program can read the file.
    static func check(_ database: Database) throws(DatabaseFault) {
        let found = try version(of: database)
        if found > version { throw try newer(found, database) }
        if found == 0 {
            throw DatabaseFault(
                kind: .cannotOpen, function: "SELECT", message: "\(database.path) holds no journal yet")
        }
    }

    /// Makes sure that the tables are those of this program, letter by letter.
    ///
    /// `quick_check` passes over a name with a flipped bit, and no statement that uses the table works.
    ///
    /// - Throws: `DatabaseFault` of the kind `damaged` if they are not.
    static func verify(_ database: Database) throws(DatabaseFault) {
        let model = try Database(":memory:", .readWrite)
        for step in steps { try model.execute(step) }
        guard try texts(of: database) == texts(of: model) else { throw damaged }
    }

    private static func texts(of database: Database) throws(DatabaseFault) -> [String] {
        var texts: [String] = []
        try database.each("SELECT type, name, tbl_name, sql FROM sqlite_schema") { row in
            texts.append((Int32(0)..<4).map { row.isNull($0) ? "" : row.text($0) }.joined(separator: " "))
        }
        return texts.sorted()
    }

    private static let damaged = DatabaseFault(
        kind: .damaged, function: "SELECT", message: "the tables are not those of a journal")

    private static func version(of database: Database) throws(DatabaseFault) -> Int {
        guard try database.number("SELECT 1 FROM sqlite_schema WHERE name = 'meta'") != nil else { return 0 }
        do throws(DatabaseFault) {
            return try database.number("SELECT value FROM meta WHERE name = 'schema'").map { Int($0) } ?? 0
        } catch {
            throw error.ofFile
        }
    }

    private static func newer(_ found: Int, _ database: Database) throws(DatabaseFault) -> DatabaseFault {
        let program = try database.first("SELECT value FROM meta WHERE name = 'program'") { $0.text(0) } ?? "unknown"
        return DatabaseFault(
            kind: .newerSchema, function: "SELECT",
            message:
                "\(database.path) was written by chirp-relay \(program) in schema \(found), and this program knows "
                + "schemas up to \(version): run that version again, or another --state directory")
    }

    /// Stores a value of which there is one.
    static func setMeta(
        _ name: String, _ database: Database, _ bind: (Statement) -> Void
    ) throws(DatabaseFault) {
        try database.run("INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)") { statement in
            statement.bind(name)
            bind(statement)
        }
    }

    /// Version 1.
    ///
    /// `seen` has a row a commit. An item's place is its gathering's serial times 2¹⁴ plus its place in the list. The
    /// body of a delivery and the content of an event stand apart from the columns that are looked through.
    private static let first = """
        CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
        CREATE TABLE stream(name TEXT PRIMARY KEY, cursor BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE seen(id INTEGER PRIMARY KEY, stream TEXT NOT NULL, ids BLOB NOT NULL);
        CREATE TABLE unrecorded(
            hour INTEGER NOT NULL, stream TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY(hour, stream)
        ) WITHOUT ROWID;
        CREATE TABLE limit_key(key BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE repeat_key(key BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE gathering(serial INTEGER PRIMARY KEY, row BLOB NOT NULL);
        CREATE TABLE briefing(serial INTEGER PRIMARY KEY, row BLOB NOT NULL);
        CREATE TABLE item(place INTEGER PRIMARY KEY, row BLOB NOT NULL);
        CREATE TABLE silence(id INTEGER PRIMARY KEY, row BLOB NOT NULL);
        CREATE TABLE receipt(
            rule TEXT NOT NULL, sink TEXT NOT NULL, receipt TEXT NOT NULL, count INTEGER NOT NULL,
            PRIMARY KEY(rule, sink, receipt)
        ) WITHOUT ROWID;
        CREATE TABLE counter(
            part TEXT NOT NULL, sink TEXT NOT NULL, effects INTEGER NOT NULL, delivered INTEGER NOT NULL,
            suppressed INTEGER NOT NULL, pending INTEGER NOT NULL, dead INTEGER NOT NULL, PRIMARY KEY(part, sink)
        ) WITHOUT ROWID;
        CREATE TABLE delivery(
            serial INTEGER PRIMARY KEY, place INTEGER NOT NULL, sink TEXT NOT NULL, rule TEXT NOT NULL,
            key TEXT NOT NULL, state INTEGER NOT NULL, at INTEGER, accepted_at INTEGER NOT NULL,
            attempts INTEGER NOT NULL, unsettled INTEGER NOT NULL, aside INTEGER NOT NULL, foldable INTEGER NOT NULL,
            moved INTEGER NOT NULL, error TEXT, effects INTEGER NOT NULL, bytes INTEGER NOT NULL, successor INTEGER,
            last_event INTEGER NOT NULL
        );
        CREATE TABLE outbox_full(
            sink TEXT NOT NULL, rule TEXT NOT NULL, hour INTEGER NOT NULL, count INTEGER NOT NULL,
            untold INTEGER NOT NULL, PRIMARY KEY(sink, rule, hour)
        ) WITHOUT ROWID;
        CREATE TABLE pause(sink TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE body(serial INTEGER PRIMARY KEY, content BLOB NOT NULL);
        CREATE TABLE event(
            id INTEGER PRIMARY KEY, received_at INTEGER NOT NULL, stream TEXT NOT NULL, identity BLOB NOT NULL,
            kind TEXT NOT NULL, actor TEXT, effects BLOB NOT NULL
        );
        CREATE TABLE content(id INTEGER PRIMARY KEY, event BLOB NOT NULL);
        CREATE TABLE closing(
            serial INTEGER PRIMARY KEY, fate BLOB NOT NULL, closed_at INTEGER NOT NULL, last_event INTEGER NOT NULL
        );
        CREATE INDEX closing_age ON closing(last_event);
        """
}
