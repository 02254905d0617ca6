internal import RelayCore

/// How far the streams have come: the identities they saw last, their cursors, and what the history does not hold.
struct StreamStore {
    private let database: Database
    private var seen: [String: SeenRows] = [:]
    /// The highest number of a row of `seen`; the row with it is never removed.
    private(set) var lastSeen: UInt64 = 0

    /// Reads what is there.
    init(_ database: Database) throws(DatabaseFault) {
        self.database = database
        var (seen, last) = (seen, lastSeen)
        try database.each("SELECT id, stream, length(ids) FROM seen ORDER BY id") { row in
            last = row.unsigned(0)
            seen[row.text(1), default: SeenRows()].append(last, count: row.count(2) / StoredIDs.size)
        }
        (self.seen, lastSeen) = (seen, last)
    }

    /// Saves how far a stream has come; part of a transaction.
    mutating func write(_ progress: StreamProgress, at wall: Instant) throws(DatabaseFault) {
        if !progress.seen.isEmpty { try writeSeen(progress) }
        if let cursor = progress.cursor {
            try database.run("INSERT OR REPLACE INTO stream(name, cursor) VALUES(?, ?)") {
                $0.bind(progress.stream)
                $0.bind(RowWriter.encode(cursor))
            }
        }
        if progress.unrecorded > 0 { try countUnrecorded(progress, at: wall) }
    }

    private mutating func writeSeen(_ progress: StreamProgress) throws(DatabaseFault) {
        lastSeen += 1
        try database.run("INSERT INTO seen(id, stream, ids) VALUES(?, ?, ?)") {
            $0.bind(lastSeen)
            $0.bind(progress.stream)
            $0.bind(StoredIDs.bytes(of: progress.seen.suffix(StreamProgress.mostSeen)))
        }
        var rows = seen[progress.stream] ?? SeenRows()
        rows.append(lastSeen, count: min(progress.seen.count, StreamProgress.mostSeen))
        while let id = rows.removeSuperfluous(keeping: StreamProgress.mostSeen) {
            try database.run("DELETE FROM seen WHERE id = ?") { $0.bind(id) }
        }
        seen[progress.stream] = rows
    }

    private func countUnrecorded(_ progress: StreamProgress, at wall: Instant) throws(DatabaseFault) {
        let sql = """
            INSERT INTO unrecorded(hour, stream, count) VALUES(?, ?, ?)
            ON CONFLICT(hour, stream) DO UPDATE SET count = count + excluded.count
            """
        try database.run(sql) {
            $0.bind(wall.hour)
            $0.bind(progress.stream)
            $0.bind(progress.unrecorded)
        }
    }

    /// Returns how far a stream has come; nil if nothing of it was saved.
    func progress(of stream: String) throws(DatabaseFault) -> StreamProgress? {
        let bytes = try database.first("SELECT cursor FROM stream WHERE name = ?") {
            $0.bind(stream)
        } _: {
            $0.bytes(0)
        }
        var damaged = 0
        let cursor: StreamCursor? = bytes.flatMap { LedgerStore.decode($0, &damaged) }
        var ids: [EventID] = []
        try database.each("SELECT ids FROM seen WHERE stream = ? ORDER BY id") {
            $0.bind(stream)
        } _: {
            ids.append(contentsOf: $0.withSpan(0, StoredIDs.ids))
        }
        if cursor == nil, ids.isEmpty { return nil }
        return StreamProgress(stream: stream, seen: ids.suffix(StreamProgress.mostSeen), cursor: cursor)
    }
}

/// The rows of `seen` that belong to one stream, oldest first.
private struct SeenRows {
    private var rows: [(id: UInt64, count: Int)] = []
    private var start = 0
    private var total = 0

    mutating func append(_ id: UInt64, count: Int) {
        rows.append((id, count))
        total += count
    }

    /// Takes the oldest row if the others have as many identities as are kept.
    mutating func removeSuperfluous(keeping most: Int) -> UInt64? {
        guard start + 1 < rows.count, total - rows[start].count >= most else { return nil }
        defer {
            total -= rows[start].count
            start += 1
            if start > rows.count / 2 {
                rows.removeFirst(start)
                start = 0
            }
        }
        return rows[start].id
    }
}

/// Identities of events as the bytes of a row.
enum StoredIDs {
    /// The bytes of one.
    static let size = 16

    static func bytes(of ids: some Collection<EventID>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ids.count * size)
        for id in ids {
            for word in [id.high, id.low] {
                withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
            }
        }
        return bytes
    }

    static func ids(_ bytes: RawSpan) -> [EventID] {
        (0..<bytes.byteCount / size).map { place in
            func word(_ offset: Int) -> UInt64 {
                UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: place * size + offset, as: UInt64.self))
            }
            return EventID(high: word(0), low: word(8))
        }
    }
}

extension StreamCursor: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(id)
        writer.write(createdAt)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        self.init(id: try reader.untrusted(), createdAt: try reader.instant())
    }
}

extension Instant {
    /// The number of the hour in which it lies.
    var hour: Int64 { Int64((Double(milliseconds) / 3_600_000).rounded(.down)) }
}
