import CPowerCut
import GLibRuntime
import RelayCore
import RelayTestKit
import Testing

@testable import RelayJournal

/// What is left when the power goes: of each file what was synced, and of what was written since whatever the disk had.
@Suite(.timeLimit(.minutes(5)))
struct PowerCutTests {
    /// What was known to be on disk when so many operations had happened.
    private struct Known {
        var operations: Int32
        var accepted: [String]
    }

    @Test func nothingAcceptedIsLost() async throws {
        let folder = try JournalFolder(recordsWrites: true)
        let recording = try #require(folder.recording)
        var generator = SeededGenerator(seed: 4)
        var known: [Known] = []
        var accepted: [String] = []
        let journal = try await folder.open().journal
        for round in 0..<60 {
            let ids = (0..<Int.random(in: 1...20, using: &generator)).map { "\(round)-\($0)" }
            try await journal.offer(ids)
            accepted += ids
            known.append(Known(operations: relay_operation_count(recording), accepted: accepted))
            if Bool.random(using: &generator) {
                let batch = await journal.claim(
                    ClaimRequest(sink: "sink", upTo: 9, lease: .seconds(60)), at: Story.midnight)
                let again = Settlement.retry(at: Story.instant(1), because: "no")
                await journal.settle(batch.claims.map { SettledClaim($0, again) }, at: Story.midnight)
            }
        }
        let count = relay_operation_count(recording)
        for cut in 0..<100 {
            let end = Int32.random(in: 0...count, using: &generator)
            let left = try JournalFolder()
            Self.cut(recording, at: end, into: left, using: &generator)
            let opened = try await left.open()
            let expected = known.last { $0.operations <= end }?.accepted ?? []
            // A file that was never whole may be set aside: nothing was accepted by then.
            #expect(opened.notes == [] || expected.isEmpty, "cut \(cut) at \(end)")
            let held = await opened.journal.outbox(OutboxSelection(), limit: .max).compactMap(\.delivery.eventID)
            #expect(held.starts(with: expected), "cut \(cut) at \(end): \(held.count) of \(expected.count)")
            let counters = await opened.journal.counters()["sink"] ?? SinkCounters()
            #expect(counters.effects == held.count && counters.pending == held.count)
            let seen = await opened.journal.savedProgress(of: "chirp")?.seen.count ?? 0
            #expect(seen == held.count)
        }
    }

    /// Makes the files as a loss of power after so many operations leaves them.
    private static func cut(
        _ recording: Int32, at end: Int32, into folder: JournalFolder, using generator: inout SeededGenerator
    ) {
        for (file, name) in ["journal.db", "journal.db-wal"].enumerated() {
            let all = (0..<end).map { relay_operation_at(recording, $0) }
            let operations = all.filter { $0.file == Int32(file) }
            let synced = operations.lastIndex { Int($0.kind) == RELAY_SYNC } ?? -1
            var bytes: [UInt8] = []
            for (place, operation) in operations.enumerated() {
                let isSynced = place <= synced
                guard isSynced || Bool.random(using: &generator) else { continue }
                apply(operation, isTorn: !isSynced && Bool.random(using: &generator), to: &bytes, using: &generator)
            }
            folder.write(bytes, to: name)
        }
    }

    private static func apply(
        _ operation: relay_operation, isTorn: Bool, to bytes: inout [UInt8], using generator: inout SeededGenerator
    ) {
        let offset = Int(operation.offset)
        switch Int(operation.kind) {
        case RELAY_TRUNCATE:
            if offset < bytes.count { bytes.removeLast(bytes.count - offset) }
        case RELAY_WRITE:
            var count = Int(operation.count)
            // A disk writes whole sectors.
            if isTorn { count = Int.random(in: 0...count / 512, using: &generator) * 512 }
            if bytes.count < offset + count {
                bytes.append(contentsOf: repeatElement(0, count: offset + count - bytes.count))
            }
            let written = UnsafeRawBufferPointer(start: operation.bytes, count: count)
            bytes.withUnsafeMutableBytes { $0[offset..<offset + count].copyBytes(from: written) }
        default: break
        }
    }
}
