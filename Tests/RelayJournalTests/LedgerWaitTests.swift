import RelayCore
import RelayJournal
import RelayTestKit
import Testing

/// Groups that wait for a free slot of their limit.
@Suite(.timeLimit(.minutes(2)), .serialized)
struct LedgerWaitTests {
    private static let start = Instant(milliseconds: 1_900_000_000_000)

    private static func now(_ milliseconds: Int) -> Moment { Moment(start + .milliseconds(milliseconds)) }

    private static func ledger(
        _ digest: DigestPolicy, _ limit: LimitPolicy, bounds: LedgerBounds = LedgerBounds()
    ) -> Ledger {
        let policy = EffectPolicy(rule: "r", digest: digest, limit: limit, sinks: [0])
        return Ledger(plan: Fixtures.plan([policy], sinks: ["x"]), bounds: bounds)
    }

    /// Offers so many events, the n-th at `at(n)` about `post(n)`.
    private static func offer(
        _ count: Int, to ledger: inout Ledger, _ store: inout RecordingStore, post: (Int) -> String,
        at milliseconds: (Int) -> Int
    ) async throws {
        for number in 0..<count {
            let now = now(milliseconds(number))
            let event = Fixtures.event(id: "e\(number)", post: post(number), at: now.wall)
            try ledger.advance(to: now, into: &store)
            let effect = Effect(rule: 0, sink: 0, action: .deliver)
            _ = try ledger.accept(Intake(event: event, effects: [effect]), at: now, into: &store)
            // Tests beside this one wait for real sockets.
            if number % 100 == 0 { await Task.yield() }
        }
    }

    /// Every event that joins a full digest tried to close it, and left an entry in the agenda that is still current:
    /// 80 000 likes in a minute took 83 s.
    @Test func aFullDigestThatWaitsCostsTheSameHoweverManyJoin() async throws {
        func cost(_ count: Int) async throws -> Duration {
            var ledger = Self.ledger(
                DigestPolicy(timing: .window(.seconds(3600)), max: 1), LimitPolicy(max: 1, per: .seconds(3600)))
            var store = RecordingStore()
            let clock = ContinuousClock()
            let begin = clock.now
            try await Self.offer(count, to: &ledger, &store, post: { _ in "p" }, at: { $0 / 10 })
            return clock.now - begin
        }
        let (few, many) = (try await cost(1000), try await cost(16_000))
        #expect(many < few * 64 + .seconds(1), "\(few) for a thousand, \(many) for sixteen")
    }

    /// Every slot that came free woke all that waited: 8000 posts took 47 s.
    @Test func aFreeSlotCostsTheSameHoweverManyWait() async throws {
        func cost(_ count: Int) async throws -> Duration {
            var ledger = Self.ledger(
                DigestPolicy(by: [.post], timing: .window(.seconds(1))), LimitPolicy(max: 1, per: .seconds(1)))
            var store = RecordingStore()
            try await Self.offer(count, to: &ledger, &store, post: { "p\($0)" }, at: { _ in 0 })
            let clock = ContinuousClock()
            let begin = clock.now
            var last = Self.now(0)
            while let due = ledger.deadlines(at: last).first {
                guard case .relay(let instant) = due else { break }
                last = Moment(instant)
                try ledger.advance(to: last, into: &store)
                if store.records.count % 100 == 0 { await Task.yield() }
            }
            #expect(store.records.count == count && last == Self.now(count * 1000))
            let ids = store.records.map(\.delivery.eventID)
            #expect(ids == (0..<count).map { "e\($0)" })
            return clock.now - begin
        }
        let (few, many) = (try await cost(250), try await cost(4000))
        #expect(many < few * 64 + .seconds(1), "\(few) for 250, \(many) for 4000")
    }

    @Test func allSlotsThatComeFreeAtOnceAreTakenInTheOrderOfOpening() async throws {
        var ledger = Self.ledger(
            DigestPolicy(by: [.post], timing: .window(.seconds(1))), LimitPolicy(max: 3, per: .seconds(10)))
        var store = RecordingStore()
        try await Self.offer(8, to: &ledger, &store, post: { "p\($0)" }, at: { _ in 0 })
        for seconds in [1, 11, 21] { try ledger.advance(to: Self.now(seconds * 1000), into: &store) }
        let times = store.records.map { ($0.at - Self.start).wholeMilliseconds / 1000 }
        #expect(times == [1, 1, 1, 11, 11, 11, 21, 21])
        #expect(store.records.map(\.delivery.eventID) == (0..<8).map { "e\($0)" })
        #expect(ledger.deadlines(at: Self.now(21_000)).isEmpty)
    }

    /// What does not need its slot, as the outbox is full, leaves it to the next.
    @Test func aSlotThatIsNotTakenGoesToTheNextInLine() async throws {
        var ledger = Self.ledger(
            DigestPolicy(by: [.post], timing: .window(.seconds(1))), LimitPolicy(max: 1, per: .seconds(10)))
        var store = RecordingStore()
        try await Self.offer(4, to: &ledger, &store, post: { "p\($0)" }, at: { _ in 0 })
        try ledger.advance(to: Self.now(1000), into: &store)
        store.room = 1
        try ledger.advance(to: Self.now(11_000), into: &store)
        #expect(store.records.map(\.isStored) == [true, false, false, false])
        #expect(ledger.deadlines(at: Self.now(11_000)).isEmpty)
    }
}
