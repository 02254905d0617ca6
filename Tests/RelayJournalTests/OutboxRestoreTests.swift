import RelayCore
import RelayJournal
import RelayTestKit
import Testing

/// What an outbox makes of its rows at the start of a process.
struct OutboxRestoreTests {
    private let start = Instant(milliseconds: 1_800_000_000_000)
    private var ledger = Ledger(plan: Fixtures.plan())
    private var outbox = TestOutbox()
    private var serial: UInt64 = 0

    private mutating func store(_ ids: String..., at now: Instant? = nil) throws {
        for id in ids {
            serial += 1
            #expect(try outbox.store(Fixtures.delivery(id), serial: serial, at: now ?? start))
        }
        _ = outbox.commit()
    }

    private mutating func claim(
        _ count: Int = 9, inOrder: Bool = false, backlog: BacklogPolicy? = nil, at now: Instant
    ) throws -> [Claim] {
        defer { _ = outbox.commit() }
        let request = ClaimRequest(
            sink: "sink", upTo: count, lease: .seconds(60), inOrder: inOrder, backlog: backlog)
        return try outbox.claim(request, at: now, ledger: &ledger).claims
    }

    private mutating func settle(_ claims: [Claim], _ settlement: Settlement, at now: Instant) -> Int {
        defer { _ = outbox.commit() }
        return outbox.settle(claims, settlement, at: now)
    }

    private mutating func restart(inNewProcess isNew: Bool = true, at now: Instant) {
        outbox.restore(inNewProcess: isNew, at: now)
        _ = outbox.commit()
    }

    @Test mutating func claimsAreReleasedAndTheirAttemptsCounted() throws {
        try store("a", "b")
        _ = try claim(1, at: start)
        restart(at: start)
        let new = try claim(at: start)
        #expect(new.map(\.attempt) == [2, 1] && new.map(\.delivery.eventID) == ["a", "b"])
        #expect(settle(new, .delivered, at: start) == 0)
    }

    @Test mutating func fiveClaimsOfProcessesThatDiedKillADelivery() throws {
        try store("a", "b")
        for attempt in 1...5 {
            #expect(try claim(1, at: start).map(\.attempt) == [attempt])
            restart(at: start)
        }
        let entry = try #require(try outbox.entries(OutboxSelection(isDead: true)).first)
        #expect(entry.lastError == "killed the relay" && entry.delivery.eventID == "a")
        #expect(try claim(at: start).map(\.delivery.eventID) == ["b"])
        #expect(outbox.counters["sink"]?.dead == 1 && outbox.counters["sink"]?.effects == 2)
    }

    @Test mutating func aCommitThatFailedLeavesClaimsWithTheirWorkers() throws {
        try store("a", "b")
        let claims = try claim(1, at: start)
        restart(inNewProcess: false, at: start)
        #expect(try claim(at: start).map(\.delivery.eventID) == ["b"])
        #expect(settle(claims, .delivered, at: start) == 0)
    }

    @Test mutating func timesInTheFutureAndTooFarOffAreCut() throws {
        try store("a", at: start + .seconds(9999))
        restart(at: start)
        let claims = try claim(at: start)
        #expect(claims.map(\.acceptedAt) == [start])
        _ = settle(claims, .retry(at: start + .seconds(900), because: "busy"), at: start)
        // The clock was set back by a day.
        let now = start + .seconds(-86_400)
        restart(at: now)
        #expect(try claim(at: now + .seconds(3599)).isEmpty)
        #expect(try claim(at: now + .seconds(3600)).count == 1)
    }

    @Test mutating func whatSteppedAsideStaysAside() throws {
        try store("a", "b", "c")
        var now = start
        for _ in 0..<5 {
            let claims = try claim(inOrder: true, at: now)
            #expect(claims.map(\.delivery.eventID) == ["a"])
            _ = settle(claims, .retry(at: now + .seconds(20), because: "500", trouble: .failed), at: now)
            now = now + .seconds(20)
        }
        now = now + .seconds(-10)
        #expect(settle(try claim(inOrder: true, at: now), .delivered, at: now) == 0)
        restart(at: now)
        #expect(try claim(inOrder: true, at: now).map(\.delivery.eventID) == ["c"])
    }

    @Test mutating func aCommitThatFailedForgetsNoFailures() throws {
        try store("a", "b")
        var now = start
        for _ in 0..<5 {
            let claims = try claim(inOrder: true, at: now)
            _ = settle(claims, .retry(at: now + .seconds(20), because: "500", trouble: .failed), at: now)
            restart(inNewProcess: false, at: now)
            now = now + .seconds(20)
        }
        now = now + .seconds(-10)
        #expect(try claim(inOrder: true, at: now).map(\.delivery.eventID) == ["b"])
    }

    @Test mutating func whatWasAttemptedIsNotFoldedAfterARestart() throws {
        try store("a", "b", "c", "d")
        _ = try claim(1, at: start)
        restart(at: start)
        // The rule of the fixtures' deliveries is that of their plan.
        let claims = try claim(backlog: BacklogPolicy(count: 2, age: .zero), at: start)
        #expect(claims.map(\.delivery.eventID) == ["a", nil])
        #expect(claims.map(\.delivery.effects) == [1, 3])
    }

    @Test mutating func theBoundOfDeadLettersHoldsInTheOrderInWhichTheyDied() throws {
        outbox = TestOutbox(limits: OutboxShare.Limits(dead: 2))
        try store("a", "b", "c")
        let claims = try claim(at: start)
        for (number, claim) in claims.reversed().enumerated().prefix(2) {
            _ = settle([claim], .dead(because: "no"), at: start + .seconds(number))
        }
        restart(at: start + .seconds(9))
        _ = settle(try claim(at: start + .seconds(9)), .dead(because: "no"), at: start + .seconds(9))
        #expect(try outbox.entries().map(\.delivery.eventID) == ["a", "b"])
        #expect(outbox.counters["sink"]?.dead == 3)
    }

    @Test mutating func whatFoundNoRoomIsStillToldAfterARestart() throws {
        outbox = TestOutbox(limits: OutboxShare.Limits(count: 1))
        try store("a")
        #expect(try !outbox.store(Fixtures.delivery("b"), serial: 2, at: start))
        _ = outbox.commit()
        restart(at: start)
        #expect(outbox.index.fullCounts.map(\.untold) == [1])
        _ = settle(try claim(at: start), .delivered, at: start)
        #expect(try outbox.store(Fixtures.delivery("c"), serial: 3, at: start))
        #expect(try claim(at: start).map(\.delivery.notice.body.string) == ["(1 before this found the outbox full)"])
    }

    @Test mutating func theTableOfWhatFoundNoRoomIsBounded() throws {
        outbox = TestOutbox(limits: OutboxShare.Limits(count: 0))
        for number in 0..<1200 {
            var delivery = Fixtures.delivery("e\(number)")
            delivery.notice.rule = "r\(number % 3)"
            let now = start + .seconds(3600 * number)
            #expect(try !outbox.store(delivery, serial: UInt64(number + 1), at: now))
        }
        _ = outbox.commit()
        let counts = outbox.index.fullCounts
        #expect(counts.count == 1000 && counts.first?.hour == start + .seconds(3600 * 200))
        #expect(outbox.index.counters["sink"]?.dead == 1200)
        restart(at: start)
        #expect(outbox.index.fullCounts == counts)
    }

    @Test mutating func aDeliveryWhoseTextIsLostIsDead() throws {
        try store("a", "b")
        outbox.shelf.deliveries[1] = nil
        #expect(try claim(at: start).map(\.delivery.eventID) == ["b"])
        #expect(outbox.counters["sink"]?.dead == 1)
    }
}
