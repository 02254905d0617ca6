import GLibRuntime
import RelayCore
import RelayJournal
import RelayTestKit
import Testing

/// What a ledger is after a restart: clocks that were set in between, rules that were edited, and what goes on.
@Suite(.timeLimit(.minutes(1)))
struct LedgerRestoreTests {
    private static let hour = Duration.seconds(3600)
    private static let digest = DigestPolicy(by: [.post], timing: .window(hour))

    // MARK: Clocks

    /// A policy, how many events it is offered, and how far off its deadline is then.
    @Test(arguments: [
        (EffectPolicy(rule: "r", digest: digest), 1, hour),
        (EffectPolicy(rule: "r", limit: LimitPolicy(max: 1, per: .seconds(600))), 2, .seconds(600)),
        // The second of two full digests waits for the slot that the first one took.
        (
            EffectPolicy(
                rule: "r", digest: DigestPolicy(timing: .window(.seconds(5)), max: 1),
                limit: LimitPolicy(max: 1, per: .seconds(600))), 2, .seconds(600)
        ),
    ])
    func aDeadlineFurtherOffThanItsLengthIsCut(_ policy: EffectPolicy, events: Int, length: Duration) throws {
        for step in [Duration.seconds(-7200), .seconds(-60), .zero, .seconds(60)] {
            var story = Restarts([policy])
            for number in 0..<events { try story.offer("\(number)", at: 0) }
            #expect(story.deadlines(at: 0) == [.relay(Story.midnight + length)])
            story.restart(relay: step)
            let latest = min(Story.midnight + length, Story.midnight + step + length)
            #expect(story.deadlines(relay: step) == [.relay(latest)], "step \(step)")
            story.restart(relay: step)
            #expect(story.deadlines(relay: step) == [.relay(latest)], "step \(step): the disk does not know")
        }
    }

    @Test func aTimeOfDayFurtherOffThanTheNextIsCut() throws {
        let times = DailyTimes(minutes: [9 * 60], zone: try #require(Story.utc))
        var story = Restarts([EffectPolicy(rule: "r", digest: DigestPolicy(timing: .at(times)))])
        try story.offer("a", at: 10 * 3600)
        let days = { (count: Int) in Deadline.wall(Story.midnight + .seconds(count * 86_400 + 9 * 3600)) }
        #expect(story.deadlines(at: 10 * 3600) == [days(1)])
        story.restart(relay: .seconds(10 * 3600), wall: .seconds(10 * 3600))
        #expect(story.deadlines(at: 10 * 3600) == [days(1)])
        story.restart(relay: .seconds(10 * 3600), wall: .seconds(8 * 3600))
        #expect(story.deadlines(at: 10 * 3600, wall: 8 * 3600) == [days(0)])
        // What is due stays so.
        story.restart(relay: .seconds(10 * 3600), wall: .seconds(12 * 3600))
        #expect(story.deadlines(at: 10 * 3600, wall: 12 * 3600) == [days(0)])
    }

    @Test func aChargeInTheFutureCountsAsMadeNow() throws {
        let limit = LimitPolicy(max: 1, per: .seconds(60), excess: .drop)
        // Of the second bound every key is the shared one.
        for bounds in [LedgerBounds(), LedgerBounds(limitKeys: 0)] {
            var story = Restarts([EffectPolicy(rule: "r", limit: limit)], bounds: bounds)
            #expect(try story.offer("a", at: 0) == .stored)
            story.restart(relay: .seconds(-3600))
            // The charge was made at the first restart, not when it is asked for, nor at the second restart.
            #expect(try story.offer("b", at: -3541) == .suppressed(.limited))
            story.restart(relay: .seconds(-3540))
            #expect(try story.offer("c", at: -3540) == .stored)
            #expect(story.notice?.suppressed == 1)
        }
    }

    @Test func aRepeatKeyOfTheFutureHoldsBackFromNow() throws {
        let policy = EffectPolicy(rule: "r", repeat: RepeatPolicy(by: [], within: .seconds(60)))
        var story = Restarts([policy])
        #expect(try story.offer("a", at: 0) == .stored)
        story.restart(relay: .seconds(-3600))
        #expect(try story.offer("b", at: -3541) == .suppressed(.duplicate))
        story.restart(relay: .seconds(-3540))
        #expect(try story.offer("c", at: -3540) == .stored)
    }

    @Test func anHourlyDigestIsToldOnceOverTwoRestarts() throws {
        var story = Restarts([EffectPolicy(rule: "r", digest: Self.digest)])
        for number in 0..<3 { try story.offer("\(number)", at: Double(number * 600)) }
        story.restart(relay: .seconds(40 * 60))
        try story.advance(to: 40 * 60)
        try story.offer("3", at: 41 * 60)
        #expect(story.store.records.isEmpty)
        story.restart(relay: .seconds(90 * 60))
        try story.advance(to: 90 * 60)
        #expect(story.store.records.map(\.delivery.effects) == [4])
        story.restart(relay: .seconds(91 * 60))
        try story.advance(to: 1_000_000)
        #expect(story.store.records.count == 1)
    }

    // MARK: Edited rules

    @Test func aDigestWithoutAPlaceInTheEditedRulesClosesAtOnce() throws {
        var changed = Self.digest
        changed.timing = .window(.seconds(60))
        for policies in [[EffectPolicy(rule: "other")], [EffectPolicy(rule: "r", digest: changed)]] {
            var story = Restarts([EffectPolicy(rule: "new"), EffectPolicy(rule: "r", digest: Self.digest)])
            for id in ["a", "b"] { try story.offer(id, rule: 1, at: 0) }
            story.restart(relay: .seconds(10), by: policies)
            try story.adopt(at: 10)
            #expect(story.notice?.rule == "r" && story.notice?.title == UntrustedText("2"))
            #expect(story.deadlines(at: 10) == [])
            #expect(try story.offer("c", at: 11) != .outboxFull)
        }
    }

    @Test func aDigestOfARuleThatIsGoneJoinsTheBriefingIfItsHoldIsOn() throws {
        let night = ["night": try Story.night()]
        var story = Restarts([EffectPolicy(rule: "r", digest: Self.digest, hold: "night")], times: night)
        for id in ["a", "b"] { try story.offer(id, at: 0) }
        story.restart(relay: .seconds(10), wall: .seconds(10), by: [EffectPolicy(rule: "other")], times: night)
        try story.adopt(at: 10)
        #expect(story.store.records.isEmpty)
        story.restart(relay: .seconds(7 * 3600), wall: .seconds(7 * 3600))
        try story.advance(to: 7 * 3600)
        #expect(story.notice?.title == UntrustedText("night: 2"))
    }

    @Test func theBriefingOfATimeThatIsGoneGoesOutAtOnce() throws {
        let policies = [EffectPolicy(rule: "r", hold: "night")]
        var story = Restarts(policies, times: ["night": try Story.night()])
        for id in ["a", "b"] { try story.offer(id, at: 0) }
        story.restart(relay: .seconds(10), wall: .seconds(10), by: policies, times: [:])
        #expect(story.deadlines(at: 10) == [.wall(Story.instant(7 * 3600))])
        try story.adopt(at: 10)
        #expect(story.notice?.title == UntrustedText("night: 2"))
    }

    @Test func aDigestIsChargedToTheKeyOfTheEditedLimit() throws {
        let slow = { (by: [KeyField]) in
            EffectPolicy(rule: "r", digest: Self.digest, limit: LimitPolicy(max: 1, per: .seconds(86_400), by: by))
        }
        var story = Restarts([slow([])])
        for (post, id) in [("p", "a"), ("q", "b")] { try story.offer(id, post: post, at: 0) }
        story.restart(relay: .seconds(10), by: [slow([.post])])
        try story.adopt(at: 10)
        try story.advance(to: 3600)
        // By the former limit the second one would wait.
        #expect(story.store.records.count == 2)
    }

    // MARK: What goes on

    @Test func closingsAreFollowedFromTheGroupToTheDelivery() throws {
        let night = ["night": try Story.night()]
        let limited = EffectPolicy(
            rule: "l", digest: Self.digest, limit: LimitPolicy(max: 1, per: .seconds(86_400), excess: .drop))
        var story = Restarts(
            [
                EffectPolicy(rule: "d", digest: Self.digest, hold: "night"), limited,
                EffectPolicy(rule: "h", hold: "night"),
            ],
            times: night)
        try story.offer("a", at: 0)
        try story.offer("b", rule: 2, at: 1)
        try story.offer("c", rule: 1, post: "p", at: 2)
        try story.offer("d", rule: 1, post: "q", at: 3)
        #expect(story.placements.map(\.serial) == [1, 2, 3, 4])
        try story.advance(to: 3601)
        story.write()
        #expect(story.closings == [ClosingRow(serial: 1, fate: .briefing(2))])
        story.restart(relay: .seconds(3600), wall: .seconds(3600))
        try story.advance(to: 3602)
        try story.advance(to: 3603)
        story.store.room = 0
        try story.advance(to: 7 * 3600)
        try story.offer("e", at: 8 * 3600)
        try story.offer("f", rule: 1, post: "r", at: 8 * 3600)
        story.write()
        let delivery = try #require(story.store.records.first?.serial)
        #expect(
            story.closings.dropFirst() == [
                ClosingRow(serial: 3, fate: .delivery(delivery)), ClosingRow(serial: 4, fate: .receipt(.limited)),
                ClosingRow(serial: 2, fate: .outboxFull),
            ])
        let serials = story.placements.compactMap(\.serial)
        #expect(Set(serials).count == serials.count && serials.last ?? 0 > delivery)
    }

    @Test func aStoredEffectNamesItsDeliveryAndADeadOneNothing() throws {
        var story = Restarts([EffectPolicy(rule: "r")])
        #expect(try story.offer("a", at: 0) == .stored)
        #expect(story.placements.last?.serial == story.store.records.last?.serial)
        story.store.room = 1
        #expect(try story.offer("b", at: 1) == .outboxFull)
        #expect(story.placements.last == Placement(.outboxFull))
        #expect(try story.offer("a", at: 2) == .suppressed(.duplicate))
        #expect(story.placements.last == Placement(.suppressed(.duplicate)))
    }

    @Test func aLedgerThatRecordsNothingHasNoChanges() throws {
        let policies = [
            EffectPolicy(rule: "r", repeat: RepeatPolicy(by: [.post], within: Self.hour), digest: Self.digest)
        ]
        var (ledger, store) = (Ledger(plan: Fixtures.plan(policies)), RecordingStore())
        let effect = Effect(rule: 0, sink: 0, action: .deliver)
        let now = Moment(Story.midnight)
        _ = try ledger.accept(Intake(event: Fixtures.event(), effects: [effect]), at: now, into: &store)
        _ = try ledger.addSilence(.init(actor: "ann"), until: Story.midnight + Self.hour, at: now)
        try ledger.finish(at: now, into: &store)
        let changes = ledger.takeChanges()
        #expect(changes.isEmpty && store.records.count == 1)
    }

    @Test func countsThatAreDamagedDoNotEndTheProcess() throws {
        for damage in [Int.max, Int.min] {
            var story = Restarts([
                EffectPolicy(rule: "r", digest: Self.digest),
                EffectPolicy(rule: "l", limit: LimitPolicy(max: 1, per: Self.hour, excess: .drop)),
            ])
            for (rule, id) in [(0, "a"), (1, "b"), (1, "c")] { try story.offer(id, rule: rule, at: 0) }
            story.write()
            var image = story.disk.image
            for row in image.groups.indices { image.groups[row].tally.count = damage }
            for row in image.limits.indices { image.limits[row].untold = damage }
            for row in image.receipts.indices { image.receipts[row].count = damage }
            for row in image.sinks.indices {
                image.sinks[row].counters.effects = damage
                image.sinks[row].counters.pending = damage
            }
            image.totals.overflows.groups = damage
            story.restart(from: image)
            for (rule, id) in [(0, "d"), (1, "e")] { try story.offer(id, rule: rule, at: 1) }
            try story.advance(to: 3600)
            #expect(story.store.records.last.map { $0.delivery.effects >= 2 } == true)
        }
    }
}

/// A ledger with a disk, in seconds since midnight, that is made again now and then.
private struct Restarts {
    private(set) var ledger: Ledger
    var store = RecordingStore()
    private(set) var disk = LedgerDisk()
    private(set) var placements: [Placement] = []
    private(set) var closings: [ClosingRow] = []
    private var plan: EffectPlan
    private let bounds: LedgerBounds

    init(_ policies: [EffectPolicy], times: [String: QuietTime] = [:], bounds: LedgerBounds = LedgerBounds()) {
        plan = Fixtures.plan(policies, sinks: ["sink"], times: times)
        self.bounds = bounds
        ledger = Ledger(plan: plan, bounds: bounds, recordsChanges: true)
    }

    /// The notice that was stored last.
    var notice: Notice? { store.records.last?.delivery.notice }

    @discardableResult
    mutating func offer(_ id: String, rule: Int = 0, post: String? = nil, at seconds: Double) throws -> Acceptance {
        let now = Story.moment(seconds)
        try ledger.advance(to: now, into: &store)
        let effect = Effect(rule: rule, sink: 0, action: .deliver)
        let intake = Intake(event: Fixtures.event(id: id, post: post, at: now.wall), effects: [effect])
        let placement = try #require(try ledger.accept(intake, at: now, into: &store).first)
        placements.append(placement)
        return placement.acceptance
    }

    mutating func advance(to seconds: Double) throws {
        try ledger.advance(to: Story.moment(seconds), into: &store)
    }

    /// Puts the plan in force by which the ledger was made again.
    mutating func adopt(at seconds: Double) throws {
        try ledger.adopt(plan, at: Story.moment(seconds), into: &store)
    }

    mutating func deadlines(at seconds: Double, wall: Double? = nil) -> [Deadline] {
        ledger.deadlines(at: Story.moment(seconds, wall: wall))
    }

    mutating func deadlines(relay: Duration) -> [Deadline] {
        ledger.deadlines(at: Moment(relay: Story.midnight + relay, wall: Story.midnight))
    }

    /// Writes what changed.
    mutating func write() {
        let changes = ledger.takeChanges()
        disk.write(changes)
        closings += changes.closings
        let isAsWritten = disk == LedgerDisk(ledger.image)
        #expect(isAsWritten)
    }

    /// Writes what changed, and makes the ledger again when the clocks have moved so far since midnight.
    mutating func restart(relay: Duration, wall: Duration = .zero) {
        write()
        let now = Moment(relay: Story.midnight + relay, wall: Story.midnight + wall)
        ledger = Ledger(plan: plan, bounds: bounds, image: disk.image, at: now, recordsChanges: true)
        write()
    }

    /// Makes the ledger again by edited rules.
    mutating func restart(
        relay: Duration, wall: Duration = .zero, by policies: [EffectPolicy], times: [String: QuietTime] = [:]
    ) {
        plan = Fixtures.plan(policies, sinks: ["sink"], times: times)
        restart(relay: relay, wall: wall)
    }

    /// Makes the ledger again from an image, at midnight.
    mutating func restart(from image: LedgerImage) {
        ledger = Ledger(
            plan: plan, bounds: bounds, image: image, at: Moment(Story.midnight), recordsChanges: true)
    }
}
