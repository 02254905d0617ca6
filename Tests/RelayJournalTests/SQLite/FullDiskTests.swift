import CPowerCut
import GLibRuntime
import Glibc
import RelayCore
import RelayTestKit
import Testing

@testable import RelayJournal

/// A disk without room: nothing is accepted, and what was accepted goes out.
@Suite(.timeLimit(.minutes(2)))
struct FullDiskTests {
    private func isFull(_ body: () async throws -> Void) async -> Bool {
        do {
            try await body()
            return false
        } catch JournalFailure.full {
            return true
        } catch {
            return false
        }
    }

    @Test func whatWasNotTakenLeavesNothingAndIsTakenLater() async throws {
        let folder = try JournalFolder(recordsWrites: true)
        let recording = try #require(folder.recording)
        let digest = EffectPolicy(rule: "digest", digest: DigestPolicy(timing: .window(.seconds(60))))
        let plan = Fixtures.plan([EffectPolicy(rule: "rule"), digest])
        let journal = try await folder.open(plan).journal
        try await journal.offer(["a", "b"])
        relay_set_room(recording, 0)
        for _ in 0..<3 {
            #expect(
                await isFull { try await journal.offer((0..<50).map { "c\($0)" + String(repeating: "x", count: 500) }) }
            )
        }
        #expect(await journal.outbox(OutboxSelection(), limit: 99).map(\.delivery.eventID) == ["a", "b"])
        // Deliveries go on, settled or not.
        #expect(await journal.deliver() == ["a", "b"])
        #expect(await journal.deliver() == [])
        relay_set_room(recording, -1)
        try await journal.offer(["d"])
        #expect(await journal.counters()["sink"]?.delivered == 2)
        await journal.close()
        let again = try await folder.open(plan).journal
        #expect(await again.deliver() == ["d"])
        let counters = await again.counters()["sink"]
        #expect(counters?.effects == 3 && counters?.delivered == 3)
    }

    @Test func aSilenceIsInForceEvenIfItCannotBeWritten() async throws {
        let folder = try JournalFolder(recordsWrites: true)
        let recording = try #require(folder.recording)
        let journal = try await folder.open().journal
        relay_set_room(recording, 0)
        // Until the log has no room for it.
        var last = Silence(id: 0, matcher: Silence.Matcher(), until: Story.midnight)
        for number in 0..<300 {
            last = try await journal.addSilence(
                Silence.Matcher(kind: "k\(number)"), until: Story.instant(60), at: Story.moment(0))
        }
        #expect(await isFull { try await journal.offer(["a"]) })
        #expect(await journal.silences(at: Story.moment(1)).last == last)
        relay_set_room(recording, -1)
        try await journal.offer(["a"])
        await journal.close()
        #expect(try await folder.open().journal.silences(at: Story.moment(1)).count == 300)
    }

    /// A real file system without room, which only root can mount.
    @Test(.enabled(if: SmallDisk.canMount, "mounting a small file system needs root"))
    func theBallastLetsTheOutboxDrain() async throws {
        let disk = try SmallDisk(megabytes: 8)
        let options = JournalOptions(folder: disk.path, program: "test", ballast: 8 << 20)
        let plan = Fixtures.plan()
        let opened = try await SQLiteJournal.open(options, plan: plan, at: Story.moment(0))
        #expect(opened.notes == [])
        let journal = opened.journal
        var accepted: [String] = []
        var round = 0
        while !(await isFull({
            let ids = (0..<20).map { "\(round)-\($0)-" + String(repeating: "x", count: 400) }
            try await journal.offer(ids)
            accepted += ids
            round += 1
        })) {}
        #expect(!accepted.isEmpty)
        let held = await journal.outbox(OutboxSelection(), limit: .max).compactMap(\.delivery.eventID)
        #expect(held == accepted)
        // All of it goes out and is settled on disk, though the file system is full.
        var delivered: [String] = []
        while true {
            let some = await journal.deliver()
            if some.isEmpty { break }
            delivered += some
        }
        #expect(delivered == accepted)
        let again = try await SQLiteJournal.open(options, plan: plan, at: Story.moment(0)).journal
        #expect(await again.counters()["sink"]?.delivered == accepted.count)
        #expect(await again.deliver() == [])
    }
}
