import GLibRuntime
import Glibc
import RelayCore
import RelayTestKit
import Testing

@testable import RelayJournal

/// What is there after a restart, and how the files look.
@Suite(.timeLimit(.minutes(2)))
struct SQLiteJournalTests {
    private let folder: JournalFolder

    init() throws { folder = try JournalFolder() }

    private func mode(_ name: String) -> mode_t {
        var status = stat()
        stat(folder.path + "/" + name, &status)
        return status.st_mode & 0o777
    }

    @Test func allFilesAreForThisUserAlone() async throws {
        let former = umask(0)
        defer { umask(former) }
        let journal = try await folder.open(ballast: 1 << 20).journal
        try await journal.offer(["a"])
        let expected = ["journal.ballast", "journal.db", "journal.db-shm", "journal.db-wal", "journal.mark"]
        #expect(folder.names == expected)
        for name in expected { #expect(mode(name) == 0o600, "\(name)") }
    }

    @Test func whatWasAcceptedIsThereAfterARestart() async throws {
        let journal = try await folder.journal()
        try await journal.offer(["a", "b", "c"])
        let claims = await journal.claim(ClaimRequest(sink: "sink", upTo: 2, lease: .seconds(60)), at: Story.midnight)
        await journal.settle([SettledClaim(claims.claims[0], .delivered)], at: Story.midnight)
        // The process ends without closing anything.
        let again = try await folder.open()
        #expect(again.notes == [])
        let batch = await again.journal.claim(
            ClaimRequest(sink: "sink", upTo: 9, lease: .seconds(60)), at: Story.midnight)
        #expect(batch.claims.map(\.delivery.eventID) == ["b", "c"])
        #expect(batch.claims.map(\.attempt) == [2, 1])
        #expect(batch.claims.first?.delivery.key == claims.claims[1].delivery.key)
        let counters = await again.journal.counters()["sink"]
        #expect(counters?.effects == 3 && counters?.delivered == 1 && counters?.pending == 2)
    }

    @Test func theCursorAndWhatWasSeenAreSaved() async throws {
        let journal = try await folder.journal()
        #expect(await journal.savedProgress(of: "chirp") == nil)
        try await journal.offer(["a", "b"])
        try await journal.offer(["c"])
        let progress = try await folder.journal().savedProgress(of: "chirp")
        #expect(progress?.seen == Fixtures.intakes(["a", "b", "c"]).map(\.event.record.identity))
        #expect(progress?.cursor == StreamCursor(id: UntrustedText("c"), createdAt: Story.midnight))
    }

    @Test func theOldestIdentitiesAreForgotten() async throws {
        let journal = try await folder.journal()
        let ids = (0..<3 * StreamProgress.mostSeen / 2).map { EventID(high: UInt64($0), low: 7) }
        for start in stride(from: 0, to: ids.count, by: 10_000) {
            let progress = StreamProgress(stream: "chirp", seen: Array(ids[start..<start + 10_000]))
            _ = try await journal.accept([], progress: [progress], at: Story.moment(0))
        }
        #expect(await journal.savedProgress(of: "chirp")?.seen == ids.suffix(StreamProgress.mostSeen))
    }

    @Test func fiveClaimsThatWereNeverSettledKillADelivery() async throws {
        try await folder.journal().offer(["a"])
        for _ in 0..<5 {
            let journal = try await folder.journal()
            let batch = await journal.claim(ClaimRequest(sink: "sink", lease: .seconds(60)), at: Story.midnight)
            #expect(batch.claims.count == 1)
        }
        let journal = try await folder.journal()
        #expect(await journal.deliver() == [])
        #expect(await journal.counters()["sink"]?.dead == 1)
        #expect(await journal.outbox(OutboxSelection(isDead: true), limit: 9).first?.lastError?.isEmpty == false)
    }

    @Test func aPlanThatChangedIsAdoptedAtTheStart() async throws {
        let digest = EffectPolicy(rule: "rule", digest: DigestPolicy(timing: .window(.seconds(3600))))
        let journal = try await folder.journal(Fixtures.plan([digest]))
        try await journal.offer(["a", "b"])
        #expect(await journal.deliver() == [])
        // Without its digest, the rule has no place for what was gathered.
        #expect(try await folder.journal().deliver() == ["2"])
    }

    @Test func theLogStaysSmall() async throws {
        let journal = try await folder.journal()
        for round in 0..<60 {
            try await journal.offer((0..<100).map { "\(round)-\($0)-" + String(repeating: "x", count: 300) })
            #expect(folder.size(of: "journal.db-wal") < 4 << 20)
            _ = await journal.deliver()
        }
    }

    @Test func nothingIsWrittenWhileNothingHappens() async throws {
        let journal = try await folder.journal()
        try await journal.offer(["a"])
        _ = await journal.deliver()
        let names = ["journal.db", "journal.db-wal", "journal.mark"]
        let before = names.map(folder.bytes)
        for second in 1..<100 {
            _ = try await journal.advance(to: Story.moment(Double(second)))
            _ = await journal.deliver(at: Story.instant(Double(second)))
            _ = await journal.giveUp(sink: "sink", acceptedBy: Story.midnight, at: Story.instant(Double(second)))
            _ = try await journal.accept([], progress: [], at: Story.moment(Double(second)))
        }
        #expect(names.map(folder.bytes) == before)
    }

    @Test func aLaterProgramsFileIsRefused() async throws {
        try await folder.journal().close()
        let database = try Database(folder.database, .readWrite)
        try database.execute("UPDATE meta SET value = 99 WHERE name = 'schema'")
        try database.execute("UPDATE meta SET value = '9.9' WHERE name = 'program'")
        let fault = await #expect(throws: DatabaseFault.self) { try await folder.journal() }
        #expect(fault?.kind == .newerSchema)
        #expect(fault?.description.contains("9.9 in schema 99") == true, "\(fault?.description ?? "")")
        #expect(folder.names.contains("journal.db"))
    }

    @Test func silencesAndReceiptsSurvive() async throws {
        let journal = try await folder.journal()
        let silence = try await journal.addSilence(
            Silence.Matcher(kind: "like"), until: Story.instant(3600), at: Story.moment(0))
        try await journal.offer(["a"])
        let again = try await folder.journal()
        #expect(await again.silences(at: Story.moment(1)) == [silence])
        #expect(await again.receipts().map(\.count) == [1])
        #expect(await again.removeSilence(silence.id, at: Story.moment(1)))
        #expect(try await folder.journal().silences(at: Story.moment(1)) == [])
    }
}
