import RelayTestKit
import Testing

@testable import RelayJournal

struct DatabaseTests {
    private let folder: TemporaryFolder
    private let database: Database

    init() throws {
        folder = try TemporaryFolder()
        database = try Database(folder.path + "/a.db", .readWrite)
        try database.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT, bytes BLOB)")
    }

    @Test func valuesComeBackAsTheyWere() throws {
        try database.run("INSERT INTO t(id, text, bytes) VALUES(?, ?, ?)") {
            $0.bind(Int64.min)
            $0.bind("a\u{0}é")
            $0.bind([0, 255, 0])
        }
        try database.run("INSERT INTO t(id, text, bytes) VALUES(?, ?, ?)") {
            $0.bind(UInt64.max)
            $0.bindNull()
            $0.bind([])
        }
        var rows: [String] = []
        try database.each("SELECT id, text, bytes FROM t ORDER BY id") { row in
            rows.append("\(row.int(0)) \(row.isNull(1) ? "nothing" : row.text(1)) \(row.isNull(2)) \(row.bytes(2))")
        }
        #expect(rows == ["\(Int64.min) a\u{0}é false [0, 255, 0]", "-1 nothing false []"])
    }

    @Test func aTransactionThatFailsLeavesNothing() throws {
        #expect(throws: DatabaseFault.self) {
            try database.transaction { () throws(DatabaseFault) in
                try database.run("INSERT INTO t(id) VALUES(1)")
                try database.run("INSERT INTO t(id) VALUES(1)")
            }
        }
        #expect(try database.number("SELECT count(*) FROM t") == 0)
        try database.transaction { () throws(DatabaseFault) in try database.run("INSERT INTO t(id) VALUES(1)") }
        #expect(try database.number("SELECT count(*) FROM t") == 1)
    }

    @Test func faultsSayWhatCanBeDone() throws {
        folder.write("garbage.db", String(repeating: "no database at all ", count: 100))
        let garbage = try Database(folder.path + "/garbage.db", .readWrite)
        #expect(kind { () throws(DatabaseFault) in _ = try garbage.number("SELECT count(*) FROM t") } == .damaged)
        #expect(
            kind { () throws(DatabaseFault) in _ = try Database(folder.path + "/none.db", .readOnly) } == .cannotOpen)
        let reader = try Database(folder.path + "/a.db", .readOnly)
        #expect(kind { () throws(DatabaseFault) in try reader.run("INSERT INTO t(id) VALUES(1)") } == .readOnly)
        try database.execute("PRAGMA max_page_count = 3")
        #expect(
            kind { () throws(DatabaseFault) in
                try database.run("INSERT INTO t(bytes) VALUES(zeroblob(100000))")
            } == .full)
        #expect(kind { () throws(DatabaseFault) in try database.run("nonsense") } == .other)
    }

    private func kind(_ body: () throws(DatabaseFault) -> Void) -> DatabaseFault.Kind? {
        do throws(DatabaseFault) {
            try body()
            return nil
        } catch {
            return error.kind
        }
    }
}
