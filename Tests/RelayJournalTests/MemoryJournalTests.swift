import RelayCore
import RelayJournal
import RelayTestKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct MemoryJournalTests {
    private let start = Instant(milliseconds: 1_000_000)
    private let lease = Duration.seconds(60)

    private func claim(
        _ journal: some Journal, _ count: Int = 10, inOrder: Bool = false, at now: Instant
    ) async -> ClaimBatch {
        await journal.claim(ClaimRequest(sink: "sink", upTo: count, lease: lease, inOrder: inOrder), at: now)
    }

    private func keys(_ batch: ClaimBatch) -> [String] { batch.claims.compactMap(\.delivery.eventID) }

    @Test func claimsComeInTheOrderAccepted() async throws {
        let journal = MemoryJournal(plan: Fixtures.plan())
        let acceptances = try await journal.accept(
            Fixtures.intakes(["a", "b", "c"]), at: Moment(start))
        #expect(acceptances == [[.stored], [.stored], [.stored]])
        #expect(keys(await claim(journal, 2, at: start)) == ["a", "b"])
        #expect(keys(await claim(journal, 2, at: start)) == ["c"])
    }

    @Test func aClaimedDeliveryIsNotClaimedAgain() async throws {
        let journal = MemoryJournal(plan: Fixtures.plan())
        _ = try await journal.accept(Fixtures.intakes(["a"]), at: Moment(start))
        #expect(keys(await claim(journal, at: start)) == ["a"])
        let empty = await claim(journal, at: start + .seconds(59))
        #expect(empty.claims.isEmpty)
        #expect(empty.nextDue == start + lease)
    }

    @Test func aDeliveryWithAKeyThatIsHeldIsADuplicate() async throws {
        let journal = MemoryJournal(plan: Fixtures.plan())
        let acceptances = try await journal.accept(Fixtures.intakes(["a", "a"]), at: Moment(start))
        #expect(acceptances == [[.stored], [.suppressed(.duplicate)]])
        let claims = await claim(journal, at: start).claims
        #expect(claims.count == 1)
        await journal.settle(claims.map { SettledClaim($0, .delivered) }, at: start)
        let counters = try #require(await journal.counters()["sink"])
        #expect((counters.effects, counters.delivered, counters.suppressed, counters.pending) == (2, 1, 1, 0))
    }

    @Test func aRetryIsClaimedWhenItIsDueAndNotBefore() async throws {
        let journal = MemoryJournal(plan: Fixtures.plan())
        _ = try await journal.accept(Fixtures.intakes(["a", "b"]), at: Moment(start))
        let first = try #require(await claim(journal, 1, at: start).claims.first)
        #expect(first.attempt == 1)
        let due = start + .seconds(5)
        await journal.settle([SettledClaim(first, .retry(at: due, because: "busy"))], at: start)
        #expect(keys(await claim(journal, at: start)) == ["b"])
        #expect(await claim(journal, at: start + .milliseconds(4999)).nextDue == due)
        let again = try #require(await claim(journal, at: due).claims.first)
        #expect(again.delivery.eventID == "a" && again.attempt == 2 && again.acceptedAt == start)
    }

    @Test func inOrderARetryHoldsBackAllBehindIt() async throws {
        let journal = MemoryJournal(plan: Fixtures.plan())
        _ = try await journal.accept(Fixtures.intakes(["a", "b"]), at: Moment(start))
        let first = try #require(await claim(journal, 1, inOrder: true, at: start).claims.first)
        #expect(await claim(journal, 1, inOrder: true, at: start).claims.isEmpty)
        await journal.settle([SettledClaim(first, .retry(at: start + .seconds(5), because: "busy"))], at: start)
        let held = await claim(journal, inOrder: true, at: start + .seconds(1))
        #expect(held.claims.isEmpty && held.nextDue == start + .seconds(5))
        #expect(keys(await claim(journal, 1, inOrder: true, at: start + .seconds(5))) == ["a"])
    }

    @Test func aReleasedClaimIsDueAtOnceAndCountsNoAttempt() async throws {
        let journal = MemoryJournal(plan: Fixtures.plan())
        _ = try await journal.accept(Fixtures.intakes(["a"]), at: Moment(start))
        let claims = await claim(journal, at: start).claims
        await journal.settle(claims.map { SettledClaim($0, .released) }, at: start)
        let again = try #require(await claim(journal, at: start).claims.first)
        #expect(again.attempt == 1)
    }

    @Test func aSettlementAfterTheLeaseIsStale() async throws {
        let journal = MemoryJournal(plan: Fixtures.plan())
        _ = try await journal.accept(Fixtures.intakes(["a"]), at: Moment(start))
        let old = await claim(journal, at: start).claims
        let new = await claim(journal, at: start + lease).claims
        #expect(new.map(\.attempt) == [2])
        #expect(await journal.settle(old.map { SettledClaim($0, .delivered) }, at: start + lease) == 1)
        #expect(await journal.settle(new.map { SettledClaim($0, .delivered) }, at: start + lease) == 0)
        #expect(await journal.counters()["sink"]?.delivered == 1)
    }

    @Test func fiveClaimsNeverSettledAreDead() async throws {
        let journal = MemoryJournal(plan: Fixtures.plan())
        _ = try await journal.accept(Fixtures.intakes(["a"]), at: Moment(start))
        var now = start
        for attempt in 1...5 {
            #expect(await claim(journal, at: now).claims.map(\.attempt) == [attempt])
            now = now + lease
        }
        #expect(await claim(journal, at: now).claims.isEmpty)
        let counters = try #require(await journal.counters()["sink"])
        #expect(counters.dead == 1 && counters.pending == 0)
    }

    @Test func aFullShareTakesNoMoreAndNoOtherSinkNotices() async throws {
        let journal = MemoryJournal(plan: Fixtures.plan(), limits: OutboxShare.Limits(count: 2))
        let full = try await journal.accept(Fixtures.intakes(["a", "b", "c"]), at: Moment(start))
        #expect(full == [[.stored], [.stored], [.outboxFull]])
        #expect(try await journal.accept(Fixtures.intakes(["d"], to: "other"), at: Moment(start)) == [[.stored]])
        #expect(await journal.counters()["sink"]?.dead == 1)
        // One takes some 400 bytes.
        let bytes = MemoryJournal(plan: Fixtures.plan(), limits: OutboxShare.Limits(bytes: 600))
        #expect(try await bytes.accept(Fixtures.intakes(["a", "b"]), at: Moment(start)) == [[.stored], [.outboxFull]])
    }

    @Test func theBellRingsWhenSomethingIsStored() async throws {
        let journal = MemoryJournal(plan: Fixtures.plan())
        let bell = await journal.bell(for: "sink")
        _ = try await journal.accept(Fixtures.intakes(["a"]), at: Moment(start))
        await bell.wait()
    }

    /// Whatever workers do, every effect is in exactly one place.
    @Test(arguments: 0..<200)
    func theCountersAddUp(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let journal = MemoryJournal(plan: Fixtures.plan(), limits: OutboxShare.Limits(count: 20))
        var now = start
        var held: [Claim] = []
        var offered = 0
        for step in 0..<200 {
            now = now + .seconds(Int.random(in: 0...40, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let keys = (0..<3).map { "\(step)-\($0 % Int.random(in: 1...3, using: &random))" }
                offered += keys.count
                _ = try await journal.accept(Fixtures.intakes(keys), at: Moment(now))
            case 1:
                held += await claim(journal, 3, inOrder: Bool.random(using: &random), at: now).claims
            default:
                guard let claim = held.popLast() else { continue }
                let settlements: [Settlement] = [
                    .delivered, .dead(because: "no"), .released, .retry(at: now + .seconds(9), because: "busy"),
                ]
                let settlement = settlements.randomElement(using: &random) ?? .delivered
                await journal.settle([SettledClaim(claim, settlement)], at: now)
            }
            guard let counters = await journal.counters()["sink"] else { continue }
            let sum = counters.delivered + counters.suppressed + counters.pending + counters.dead
            #expect(counters.effects == offered && sum == offered, "seed \(seed), step \(step)")
        }
    }
}
