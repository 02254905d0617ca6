internal import Glibc
package import RelayCore

/// Reads the journal of a state folder, beside a relay that writes it or without one.
///
/// It never writes. Every call reads in short steps, so that the log of the relay does not grow behind a reader. For one
/// thread at a time.
package final class JournalReader {
    /// Why a journal cannot be read.
    package enum Fault: Error, Sendable, Equatable, CustomStringConvertible {
        /// There is none.
        case noJournal(folder: String)
        /// There is one that cannot be read.
        case unreadable(path: String, DatabaseFault)

        package var description: String {
            switch self {
            case .noJournal(let folder):
                "there is no journal in \(folder): no relay has kept its state there; name its directory with --state"
            case .unreadable(let path, let fault):
                switch fault.kind {
                case .newerSchema: fault.description
                case .cannotOpen, .readOnly:
                    "\(path) cannot be read: \(fault). Run this as the user of the relay, or while it runs: its log must "
                        + "be readable too, which needs a file beside it"
                case .damaged: "\(path) is damaged: \(fault). The relay sets it aside and salvages it at its next start"
                default: "\(path) cannot be read: \(fault)"
                }
            }
        }
    }

    let path: String
    let database: Database

    /// Opens the journal of a folder to read.
    package init(folder: String, vfs: String? = nil) throws(Fault) {
        path = JournalFile.path(in: folder)
        guard access(path, F_OK) == 0 || errno != ENOENT else { throw .noJournal(folder: folder) }
        do throws(DatabaseFault) {
            database = try Database(path, .readOnly, vfs: vfs)
            try database.execute("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2048")
            try Schema.check(database)
        } catch {
            throw .unreadable(path: path, error)
        }
    }

    /// Runs `body` and says of which file a fault is.
    func reading<Result>(_ body: () throws(DatabaseFault) -> Result) throws(Fault) -> Result {
        do throws(DatabaseFault) {
            return try body()
        } catch {
            throw .unreadable(path: path, error)
        }
    }

    // MARK: Outbox

    /// Returns the pending deliveries and the dead letters of a selection, oldest first, at most `limit`.
    ///
    /// One whose text is damaged is passed over.
    package func outbox(_ selection: OutboxSelection, limit: Int) throws(Fault) -> [OutboxEntry] {
        try reading { () throws(DatabaseFault) in
            var entries: [OutboxEntry] = []
            var last: UInt64 = 0
            while entries.count < limit {
                let rows = try heldRows(after: last)
                guard let end = rows.last?.row.serial else { break }
                last = end
                for stored in rows where entries.count < limit && selection.covers(stored.row, of: stored.sink) {
                    guard let delivery = try OutboxStore(database: database).delivery(stored.row.serial) else {
                        continue
                    }
                    entries.append(OutboxEntry(stored.row, delivery))
                }
            }
            return entries
        }
    }

    /// Returns some rows of the outbox.
    private func heldRows(after serial: UInt64) throws(DatabaseFault) -> [OutboxStore.Stored] {
        let sql = """
            SELECT \(OutboxStore.columns) FROM delivery
            WHERE serial IN (SELECT serial FROM body WHERE serial > ? ORDER BY serial LIMIT ?) ORDER BY serial
            """
        var rows: [OutboxStore.Stored] = []
        try database.each(sql) {
            $0.bind(serial)
            $0.bind(Self.step)
        } _: { row in
            if let stored = OutboxStore.read(row) { rows.append(stored) }
        }
        return rows
    }

    /// Returns the counters by sink, of ledger and outbox together, as the last commit left them.
    package func counters() throws(Fault) -> [String: SinkCounters] {
        try reading { () throws(DatabaseFault) in
            let store = LedgerStore(database: database)
            return try store.counters(part: "ledger").merging(try store.counters(part: "outbox")) { sum, other in
                var sum = sum
                sum.add(other)
                return sum
            }
        }
    }

    /// How many rows one step reads.
    static let step = 500
}
