internal import Glibc

/// The last numbers that a journal gave, kept beside its database.
///
/// Bits that rot in the middle of a WAL make SQLite drop all that follows, and say that all is well. The mark is written
/// after each commit and never synced: after a loss of power it may be behind the database, and never ahead.
struct HighWaterMark: StoredValue, Equatable {
    /// The last serial of a group, a briefing or a delivery.
    var serial: UInt64 = 0
    /// The number of the last recorded event.
    var event: UInt64 = 0
    /// The number of the last row of seen identities, of which every commit of a stream writes one.
    var seen: UInt64 = 0

    /// Creates a mark.
    init(serial: UInt64 = 0, event: UInt64 = 0, seen: UInt64 = 0) {
        (self.serial, self.event, self.seen) = (serial, event, seen)
    }

    func write(to writer: inout RowWriter) {
        for word in [serial, event, seen] { writer.write(word: word) }
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        (serial, event, seen) = (try reader.word(), try reader.word(), try reader.word())
    }
}

/// The file of a mark.
final class HighWaterMarkFile {
    private let descriptor: Int32
    /// The mark that the file has; nil if it has none.
    private(set) var mark: HighWaterMark?

    /// Opens the file of a folder, which is made if there is none; a file that cannot be written keeps nothing.
    init(of folder: String) {
        descriptor = open(folder + "/journal.mark", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        fchmod(descriptor, 0o600)
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        mark = try? RowReader.decode(HighWaterMark.self, Array(bytes.prefix(max(0, count))))
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Writes a mark, if it is another.
    func write(_ mark: HighWaterMark) {
        guard mark != self.mark else { return }
        self.mark = mark
        let bytes = RowWriter.encode(mark)
        // A full disk has room for a file that has its block already; if it fails, the mark is behind.
        _ = pwrite(descriptor, bytes, bytes.count, 0)
    }
}
