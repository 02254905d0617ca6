import RelayCore
import RelayJournal
import RelayTestKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct OutboxBellTests {
    private func ringsWhenSomethingIsDue(_ journal: any Journal) async throws {
        let start = Story.moment(0)
        let bell = await journal.bell(for: "sink")
        _ = try await journal.accept(Fixtures.intakes(["a"]), at: start)
        await bell.wait()
        let request = ClaimRequest(sink: "sink", lease: .seconds(60))
        let released = await journal.claim(request, at: start.relay).claims
        await journal.settle(released.map { SettledClaim($0, .released) }, at: start.relay)
        await bell.wait()
        let dead = await journal.claim(request, at: start.relay).claims
        await journal.settle(dead.map { SettledClaim($0, .dead(because: "no")) }, at: start.relay)
        #expect(try await journal.retry(OutboxSelection(), to: nil, at: start.relay) == 1)
        await bell.wait()
        let other = await journal.bell(for: "other")
        let serials = Set(await journal.outbox(OutboxSelection(), limit: 9).map(\.serial))
        #expect(try await journal.retry(OutboxSelection(serials: serials), to: "other", at: start.relay) == 1)
        await other.wait()
    }

    @Test func theMemoryJournalRings() async throws {
        try await ringsWhenSomethingIsDue(MemoryJournal(plan: Fixtures.plan()))
    }

    @Test func theSQLiteJournalRings() async throws {
        let folder = try JournalFolder()
        try await ringsWhenSomethingIsDue(
            try await folder.open(Fixtures.plan(), limits: OutboxShare.Limits(), bounds: LedgerBounds()).journal)
    }
}
