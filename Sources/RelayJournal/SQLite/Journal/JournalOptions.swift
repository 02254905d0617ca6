internal import RelayCore

/// Where and how a journal is kept on disk.
package struct JournalOptions: Sendable {
    /// The state folder, which `StateFolder.prepare` was called for, and of which the caller has the lock.
    package var folder: String
    /// The version of the program, which the file names to who cannot read it.
    package var program: String
    /// The bytes that are set aside for when the disk is full; zero for none.
    package var ballast: Int
    /// The layer of SQLite between it and the system; nil for the usual one.
    package var vfs: String?

    /// The path of the journal in a state folder.
    package static func path(in folder: String) -> String { JournalFile.path(in: folder) }

    /// Creates options; the ballast is 8 MiB unless it is given.
    package init(folder: String, program: String, ballast: Int = 8 << 20, vfs: String? = nil) {
        self.folder = folder
        self.program = program
        self.ballast = ballast
        self.vfs = vfs
    }
}

/// What opening a journal found that somebody should hear of.
package enum JournalNote: Sendable, Equatable, CustomStringConvertible {
    /// The file was damaged, set aside, and read as far as it could be.
    case damaged(JournalDamage)
    /// The file has less than was committed to it, and says that all is well.
    case lostEnd(events: UInt64, serials: UInt64, commits: UInt64)
    /// So many rows cannot be read; what they held is counted among the dead.
    case damagedRows(Int)
    /// There is no room for the ballast.
    case noBallast

    package var description: String {
        switch self {
        case .damaged(let damage):
            "the journal was damaged and is now \(damage.path): \(damage.reason). Taken into a new one: "
                + "\(damage.salvaged.deliveries) deliveries, \(damage.salvaged.streams) streams, "
                + "\(damage.salvaged.rows) rows of limits, digests and counters; the history stays in the old one"
        case .lostEnd(let events, let serials, let commits):
            "the journal lost the end of what was committed to it, as bits of its log are damaged: \(commits) commits "
                + "with \(events) recorded events and up to \(serials) deliveries"
        case .damagedRows(let count): "\(count) rows of the journal are damaged and were passed over"
        case .noBallast: "the disk has no room for the ballast of the journal: should it fill up, deliveries stop too"
        }
    }
}
