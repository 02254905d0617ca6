import Glibc
import RelayCore
import RelayJournal
import RelayTestKit
import Testing

/// What hostile input can make a ledger keep.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct LedgerBoundTests {
    /// A million above the usual bounds; a hundredth of both without the optimizer, where an effect takes 80 µs.
    private static let scale = isOptimized ? 1 : 100
    private static let offered = 1_000_000 / scale
    private static let bound = LedgerBounds().groups / scale

    private static var isOptimized: Bool {
        #if DEBUG
            false
        #else
            true
        #endif
    }

    @Test func aMillionGroupsHoldTheBoundsAndNothingIsLost() async throws {
        let hour = Duration.seconds(3600)
        let policies = [
            EffectPolicy(rule: "digest", digest: DigestPolicy(by: [.post], timing: .window(hour)), sinks: [0]),
            EffectPolicy(rule: "limit", limit: LimitPolicy(max: 1, per: hour, by: [.post]), sinks: [0]),
            EffectPolicy(rule: "repeat", repeat: RepeatPolicy(by: [.post], within: hour), sinks: [0]),
        ]
        for rule in policies.indices {
            let bounds = LedgerBounds(groups: Self.bound, limitKeys: Self.bound, repeatKeys: Self.bound)
            var ledger = Ledger(plan: Fixtures.plan(policies, sinks: ["x"]), bounds: bounds)
            var store = CountingStore()
            let (before, start) = (Self.residentBytes(), Moment(Instant(milliseconds: 1_900_000_000_000)))
            for number in 0..<Self.offered {
                let event = Fixtures.event(id: "e\(number)", post: "post-\(number)", at: start.wall)
                let effect = Effect(rule: rule, sink: 0, action: .deliver)
                let now = Moment(start.relay + .milliseconds(number))
                if number % 100 == 0 {
                    try ledger.advance(to: now, into: &store)
                    await Task.yield()
                }
                _ = try ledger.accept(Intake(event: event, effects: [effect]), at: now, into: &store)
            }
            let grown = (Self.residentBytes() - before) >> 20
            print("\(Self.offered) keys of \(policies[rule].rule): \(grown) MiB more")
            #expect(grown < 400)
            try ledger.finish(at: start, into: &store)
            let receipts = ledger.receipts.reduce(0) { $0 + $1.count }
            #expect(store.effects + receipts == Self.offered)
            let overflows = ledger.overflows
            #expect([overflows.groups, overflows.limitKeys, overflows.repeatKeys][rule] == Self.offered - Self.bound)
        }
    }

    @Test func aNameOfAMegabyteIsKeptAsSixteenBytesAndFourKilobytes() throws {
        let policy = EffectPolicy(
            rule: "r", digest: DigestPolicy(by: [.actor], timing: .window(.seconds(60))), sinks: [0])
        var ledger = Ledger(plan: Fixtures.plan([policy], sinks: ["x"]))
        var store = RecordingStore()
        let now = Moment(Instant(milliseconds: 1_900_000_000_000))
        let name = String(repeating: "\u{e9}", count: 500_000)
        for (id, end) in [("a", "x"), ("b", "y"), ("c", "x")] {
            let event = Fixtures.event(id: id, actor: name + end, text: "text")
            let effect = Effect(rule: 0, sink: 0, action: .deliver)
            _ = try ledger.accept(Intake(event: event, effects: [effect]), at: now, into: &store)
        }
        try ledger.finish(at: now, into: &store)
        #expect(store.records.map(\.delivery.effects) == [2, 1])
        guard case .event(let event)? = store.records.last?.delivery.content else {
            Issue.record("no event")
            return
        }
        #expect(event.storage.count <= Gathering.mostBytesOfEvent)
        let actor = try #require(event.text(of: event.record.actor))
        #expect(String(validating: actor.utf8, as: UTF8.self) != nil)
    }

    @Test func aDigestListsTenThousandAndCountsAll() throws {
        let policy = EffectPolicy(rule: "r", digest: DigestPolicy(timing: .window(.seconds(60))), sinks: [0])
        var ledger = Ledger(plan: Fixtures.plan([policy], sinks: ["x"]))
        var store = RecordingStore()
        let now = Moment(Instant(milliseconds: 1_900_000_000_000))
        for number in 0..<10_500 {
            let effect = Effect(rule: 0, sink: 0, action: .deliver)
            let event = Fixtures.event(id: "e\(number)", at: now.wall + .seconds(number))
            _ = try ledger.accept(Intake(event: event, effects: [effect]), at: now, into: &store)
        }
        try ledger.finish(at: now, into: &store)
        guard case .digest(let summary)? = store.records.first?.delivery.content else {
            Issue.record("no digest")
            return
        }
        #expect(summary.count == 10_500 && store.records.count == 1)
        #expect(summary.last == now.wall + .seconds(10_499))
    }

    @Test func recordingChangesAltersNothingButTheTime() throws {
        let hour = Duration.seconds(3600)
        let policies = [
            EffectPolicy(rule: "plain", sinks: [0]),
            EffectPolicy(rule: "digest", digest: DigestPolicy(by: [.post], timing: .window(hour)), sinks: [0]),
            EffectPolicy(rule: "limit", limit: LimitPolicy(max: 5, per: hour, by: [.post], excess: .drop), sinks: [0]),
            EffectPolicy(rule: "repeat", repeat: RepeatPolicy(by: [.post], within: hour), sinks: [0]),
        ]
        let events = (0..<200_000 / Self.scale).map { Fixtures.event(id: "e\($0)", post: "post-\($0 % 1000)") }
        for rule in policies.indices {
            let plan = Fixtures.plan(policies, sinks: ["x"])
            var recording = [false, true].map { Ledger(plan: plan, recordsChanges: $0) }
            var times = [Duration.zero, .zero]
            for place in recording.indices { times[place] = try Self.time(&recording[place], rule: rule, events) }
            let nanoseconds = times.map { $0 / events.count / .nanoseconds(1) }
            print("an effect of \(policies[rule].rule): \(Int(nanoseconds[0])) ns, recorded \(Int(nanoseconds[1])) ns")
            #expect(recording[0].counters == recording[1].counters)
            #expect(recording[0].receipts == recording[1].receipts)
        }
    }

    /// Offers events to a ledger, whose changes are taken after a hundred each time, and returns how long it took.
    private static func time(_ ledger: inout Ledger, rule: Int, _ events: [Event]) throws -> Duration {
        var store = CountingStore()
        let now = Moment(Instant(milliseconds: 1_900_000_000_000))
        let start = ContinuousClock.now
        for (number, event) in events.enumerated() {
            let effect = Effect(rule: rule, sink: 0, action: .deliver)
            _ = try ledger.accept(Intake(event: event, effects: [effect]), at: now, into: &store)
            if number % 100 == 99 { _ = ledger.takeChanges() }
        }
        return ContinuousClock.now - start
    }

    /// The resident set of this process.
    private static func residentBytes() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, 256, file) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4096 } ?? 0
    }
}

/// An outbox that delivers at once and only counts.
private struct CountingStore: DeliveryStore {
    var effects = 0

    func holds(_ key: String, sink: String) -> Bool { false }

    mutating func store(_ delivery: Delivery, serial: UInt64, at now: Instant) throws(JournalFailure) -> Bool {
        effects += delivery.effects
        return true
    }
}
