import CPowerCut
import Glibc
import RelayCore
import RelayTestKit

@testable import RelayJournal

/// The state folder of a journal that a test closes and opens again.
final class JournalFolder: Sendable {
    let folder: TemporaryFolder
    /// Whether its writes are recorded, and the number of that recording.
    let recording: Int32?

    init(recordsWrites: Bool = false) throws {
        folder = try TemporaryFolder()
        recording = recordsWrites ? relay_record(folder.path) : nil
    }

    deinit {
        if let recording { relay_forget(recording) }
    }

    var path: String { folder.path }
    var database: String { JournalFile.path(in: path) }

    /// Opens the journal, with what opening it found.
    func open(
        _ plan: EffectPlan = Fixtures.plan(), limits: OutboxShare.Limits = OutboxShare.Limits(),
        bounds: LedgerBounds = LedgerBounds(), history: HistoryPolicy = HistoryPolicy(), ballast: Int = 0,
        at now: Moment = Moment(Story.midnight)
    ) async throws -> (journal: SQLiteJournal, notes: [JournalNote]) {
        let options = JournalOptions(
            folder: path, program: "test", ballast: ballast, vfs: recording == nil ? nil : "powercut")
        return try await SQLiteJournal.open(
            options, plan: plan, limits: limits, bounds: bounds, history: history, at: now)
    }

    /// Opens the journal, in which nothing is wrong.
    func journal(_ plan: EffectPlan = Fixtures.plan(), history: HistoryPolicy = HistoryPolicy()) async throws
        -> SQLiteJournal
    {
        try await open(plan, history: history).journal
    }

    func bytes(of name: String) -> [UInt8] {
        let descriptor = Glibc.open(path + "/" + name, O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: max(0, Int(lseek(descriptor, 0, SEEK_END))))
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    func size(of name: String) -> Int {
        var status = stat()
        return stat(path + "/" + name, &status) == 0 ? Int(status.st_size) : 0
    }

    func write(_ bytes: [UInt8], to name: String) {
        let descriptor = Glibc.open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }

    /// The names of the files in the folder.
    var names: [String] {
        var names: [String] = []
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

extension SQLiteJournal {
    /// Offers events with one effect each.
    func offer(_ ids: [String], to sink: String = "sink", at now: Moment = Moment(Story.midnight)) async throws {
        let progress = StreamProgress(
            stream: "chirp", seen: Fixtures.intakes(ids).map(\.event.record.identity),
            cursor: StreamCursor(id: UntrustedText(ids.last ?? ""), createdAt: now.wall))
        _ = try accept(Fixtures.intakes(ids, to: sink), progress: ids.isEmpty ? [] : [progress], at: now)
    }

    /// Claims all that is due and settles it; returns the ids of the events.
    func deliver(
        _ sink: String = "sink", _ settlement: Settlement = .delivered, at now: Instant = Story.midnight
    ) async -> [String] {
        let batch = claim(ClaimRequest(sink: sink, upTo: 1000, lease: .seconds(60)), at: now)
        settle(batch.claims.map { SettledClaim($0, settlement) }, at: now)
        return batch.claims.map { $0.delivery.eventID ?? $0.delivery.notice.title.string }
    }
}
