internal import Glibc
internal import RelayCore

/// The database file of a state folder, and how it is opened.
struct JournalFile {
    /// The folder, which `StateFolder.prepare` was called for.
    let folder: String
    /// The version of the program, for the file and for who cannot read it.
    let program: String
    /// The layer of SQLite between it and the system; nil for the usual one.
    let vfs: String?

    /// The path of the database in a folder.
    static func path(in folder: String) -> String { folder + "/journal.db" }

    private var path: String { Self.path(in: folder) }

    /// A file that was opened, with what was wrong with it.
    struct Opened {
        let database: Database
        /// The damaged file that was set aside, if that was necessary.
        var damage: JournalDamage?
    }

    /// Opens the file, and makes it if there is none; one that is damaged is set aside, and what can be read of it is
    /// taken into a new one.
    func open(at wall: Instant) throws(DatabaseFault) -> Opened {
        do throws(DatabaseFault) {
            return Opened(database: try connect())
        } catch {
            guard error.kind == .damaged else { throw error }
            let aside = try setAside(at: wall)
            let database = try connect()
            var salvage = Salvage(from: aside, vfs: vfs, into: database)
            let salvaged = try salvage.run()
            return Opened(
                database: database, damage: JournalDamage(path: aside, reason: error.description, salvaged: salvaged))
        }
    }

    // MARK: Connecting

    private func connect() throws(DatabaseFault) -> Database {
        try makePrivate()
        let database = try Database(path, .readWrite, vfs: vfs)
        try configure(database)
        try check(database)
        try Schema.migrate(database, program: program)
        try Schema.verify(database)
        return database
    }

    /// Makes the file for this user alone; SQLite gives its other files the mode of the first.
    private func makePrivate() throws(DatabaseFault) {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let text = String(cString: strerror(errno))
            let kind: DatabaseFault.Kind = errno == EROFS || errno == EACCES ? .readOnly : .cannotOpen
            throw DatabaseFault(
                kind: errno == ENOSPC ? .full : kind, function: "open",
                message: "\(path) cannot be opened: \(text). Give it to this user, name another directory with "
                    + "--state, or keep everything in memory with --no-state")
        }
        defer { close(descriptor) }
        fchmod(descriptor, 0o600)
        for suffix in ["-wal", "-shm"] where access(path + suffix, F_OK) == 0 { chmod(path + suffix, 0o600) }
        // A new file must not be lost with its folder's entry.
        let directory = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
    }

    /// The pages after which the WAL is copied into the database: 2 MiB, so that a large commit more stays below 4 MiB.
    private static let pagesOfWAL = 500

    private func configure(_ database: Database) throws(DatabaseFault) {
        try checkHeader(of: database)
        // Counts only for a new file, and must come before all else.
        try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        let mode = try database.first("PRAGMA journal_mode = WAL") { $0.text(0) }
        guard mode == "wal" || hasKnownFormat else { throw Self.damagedHeader }
        guard mode == "wal" else {
            throw DatabaseFault(
                kind: .readOnly, function: "PRAGMA journal_mode",
                message:
                    "\(path) cannot be written beside its readers (its mode is \(mode ?? "unknown")): it, or the file "
                    + "system, takes no WAL")
        }
        try database.execute(
            """
            PRAGMA synchronous = FULL;
            PRAGMA wal_autocheckpoint = \(Self.pagesOfWAL);
            PRAGMA journal_size_limit = 2097152;
            PRAGMA temp_store = MEMORY;
            PRAGMA cache_size = -4096;
            PRAGMA cell_size_check = ON;
            """)
    }

    /// Makes SQLite look at the header, as it does with the first access.
    private func checkHeader(of database: Database) throws(DatabaseFault) {
        do throws(DatabaseFault) {
            _ = try database.number("SELECT count(*) FROM sqlite_schema")
        } catch {
            throw error.ofFile
        }
        guard !database.isReadOnly || hasKnownFormat else { throw Self.damagedHeader }
    }

    private static let damagedHeader = DatabaseFault(
        kind: .damaged, function: "PRAGMA journal_mode", message: "the header is damaged")

    /// Whether the header says how the file is written: bytes 18 and 19 are 1 or 2 (SQLite's file format, 1.3.3).
    ///
    /// With another number SQLite takes it for a file of a later version, which it reads at most.
    private var hasKnownFormat: Bool {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var bytes: [UInt8] = [0, 0]
        let count = pread(descriptor, &bytes, 2, 18)
        return count < 2 || bytes.allSatisfy { $0 == 1 || $0 == 2 }
    }

    private func check(_ database: Database) throws(DatabaseFault) {
        var faults: [String] = []
        let encoding = try database.first("PRAGMA encoding") { $0.text(0) }
        if encoding != "UTF-8" { faults.append("the encoding is \(encoding ?? "unknown")") }
        try database.each("PRAGMA quick_check(3)") { faults.append($0.text(0)) }
        guard faults == ["ok"] else {
            throw DatabaseFault(
                kind: .damaged, function: "PRAGMA quick_check", message: faults.joined(separator: "; "))
        }
    }

    // MARK: Setting aside

    /// Renames the file, with those that belong to it, and returns its new path.
    private func setAside(at wall: Instant) throws(DatabaseFault) -> String {
        let time = TimestampText.format(wall).filter { $0.isLetter || $0.isNumber }
        var aside = "\(path).damaged-\(time)"
        var number = 1
        while access(aside, F_OK) == 0 {
            number += 1
            aside = "\(path).damaged-\(time)-\(number)"
        }
        for suffix in ["", "-wal", "-shm"] {
            guard rename(path + suffix, aside + suffix) != 0, errno != ENOENT else { continue }
            let text = String(cString: strerror(errno))
            throw DatabaseFault(
                kind: .readOnly, function: "rename", message: "\(path)\(suffix) is damaged and stays: \(text)")
        }
        return aside
    }
}

/// A journal that was found damaged and set aside.
package struct JournalDamage: Sendable, Equatable {
    /// Where the damaged file is now.
    package var path: String
    /// What SQLite says of it.
    package var reason: String
    /// What was taken from it into the new one.
    package var salvaged: Salvaged
}

/// What was taken from a damaged file.
package struct Salvaged: Sendable, Equatable {
    /// Deliveries and dead letters.
    package var deliveries = 0
    /// Limits, repeats, open digests and briefings with their events, silences and counters.
    package var rows = 0
    /// Streams with their cursors.
    package var streams = 0
    /// How often something could not be read.
    package var faults = 0
}
