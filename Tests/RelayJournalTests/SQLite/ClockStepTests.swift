import RelayCore
import RelayTestKit
import Testing

@testable import RelayJournal

/// The wall clock steps by two hours, back or forth: while a process runs, and between two.
@Suite(.timeLimit(.minutes(2)))
struct ClockStepTests {
    /// In minutes.
    private static let steps: [Double] = [-120, 120]

    private static let plain = EffectPolicy(rule: "plain")
    private static let digest = EffectPolicy(rule: "rule", digest: DigestPolicy(timing: .window(.seconds(3600))))
    private static let limit = EffectPolicy(
        rule: "rule", limit: LimitPolicy(max: 1, per: .seconds(3600), excess: .drop))
    private static let repeated = EffectPolicy(rule: "rule", repeat: RepeatPolicy(by: [.kind], within: .seconds(3600)))

    // MARK: While it runs

    @Test(arguments: steps) func aWindowGoesOnByRelayTime(step: Double) async throws {
        var journal = try await KilledJournal([Self.digest])
        try await journal.offer("a", at: 0)
        try await journal.offer("b", at: 30, wall: 30 + step)
        #expect(try await journal.deliver(at: 59.9, wall: 59.9 + step) == 0)
        #expect(try await journal.deliver(at: 60, wall: 60 + step) == 2)
    }

    @Test(arguments: steps, [limit, repeated])
    func limitsAndRepeatsGoOnByRelayTime(step: Double, policy: EffectPolicy) async throws {
        var journal = try await KilledJournal([policy])
        let receipt = Acceptance.suppressed(policy.limit == nil ? .duplicate : .limited)
        #expect(try await journal.offer("a", at: 0) == .stored)
        #expect(try await journal.offer("b", at: 30, wall: 30 + step) == receipt)
        #expect(try await journal.offer("c", at: 59.9, wall: 59.9 + step) == receipt)
        #expect(try await journal.offer("d", at: 60, wall: 60 + step) == .stored)
    }

    @Test(arguments: steps) func theHistoryTellsTheWallClock(step: Double) async throws {
        var journal = try await KilledJournal([Self.plain], history: HistoryPolicy(keep: .seconds(4 * 3600)))
        try await journal.offer("a", at: 0)
        try await journal.offer("b", at: 30, wall: 30 + step)
        let reader = try JournalReader(folder: journal.folder.path)
        let entries = try reader.history(HistoryFilter(), limit: 9)
        #expect(entries.map(\.receivedAt) == [Story.instant((30 + step) * 60), Story.midnight])
        // By the wall clock the first one is too old when it shows four hours and more.
        try await journal.offer("c", at: 239 - step, wall: 239)
        #expect(try reader.recordedCount() == 3)
        try await journal.offer("d", at: 241 - step, wall: 241)
        #expect(try reader.recordedCount() == (step < 0 ? 2 : 3))
    }

    // MARK: Between two

    /// A journal that is killed half an hour after midnight and started by a clock that was set by so many minutes.
    private func stepped(
        by step: Double, _ policies: [EffectPolicy], history: HistoryPolicy = HistoryPolicy(),
        _ prepare: (inout KilledJournal) async throws -> Void
    ) async throws -> KilledJournal {
        var journal = try await KilledJournal(policies, history: history)
        try await prepare(&journal)
        try await journal.restart(at: 30 + step)
        return journal
    }

    @Test func aWindowIsNeverLongerThanItself() async throws {
        var journal = try await stepped(by: -120, [Self.digest]) { try await $0.offer("a", at: 0) }
        try await journal.offer("b", at: -89)
        #expect(try await journal.deliver(at: -30.1) == 0)
        #expect(try await journal.deliver(at: -30) == 2)
        try await journal.restart(at: 60)
        #expect(try await journal.deliver(at: 61) == 0)
    }

    @Test func aWindowThatIsOverIsToldAtOnce() async throws {
        var journal = try await stepped(by: 120, [Self.digest]) { try await $0.offer("a", at: 0) }
        #expect(try await journal.deliver(at: 150) == 1)
        try await journal.restart(at: 20)
        #expect(try await journal.deliver(at: 61) == 0)
    }

    @Test(arguments: [limit, repeated]) func whatIsInTheFutureCountsAsMadeNow(policy: EffectPolicy) async throws {
        let receipt = Acceptance.suppressed(policy.limit == nil ? .duplicate : .limited)
        var journal = try await stepped(by: -120, [policy]) { try await $0.offer("a", at: 0) }
        #expect(try await journal.offer("b", at: -90) == receipt)
        #expect(try await journal.offer("c", at: -30.1) == receipt)
        #expect(try await journal.offer("d", at: -30) == .stored)
        // Once more forth: the charge at -30 is long over.
        try await journal.restart(at: 90)
        #expect(try await journal.offer("e", at: 90) == .stored)
        #expect(await journal.counters().suppressed == 2)
    }

    @Test(arguments: [limit, repeated]) func whatIsOverIsForgotten(policy: EffectPolicy) async throws {
        var journal = try await stepped(by: 120, [policy]) { try await $0.offer("a", at: 0) }
        #expect(try await journal.offer("b", at: 150) == .stored)
    }

    @Test func aRetryIsNeverFurtherOffThanTheLongestOne() async throws {
        let again = Settlement.retry(at: Story.instant(45 * 60), because: "no")
        func prepare(_ journal: inout KilledJournal) async throws {
            try await journal.offer("a", at: 30)
            #expect(try await journal.deliver(again, at: 30) == 1)
        }
        var back = try await stepped(by: -120, [Self.plain], prepare)
        #expect(try await back.deliver(at: -31) == 0)
        #expect(try await back.deliver(at: -30) == 1)
        var forth = try await stepped(by: 120, [Self.plain], prepare)
        #expect(try await forth.deliver(at: 150) == 1)
        #expect(Set((back.told + forth.told).map(\.key)).count == 1)
    }

    @Test(arguments: steps) func theAgeCountsFromTheNewClock(step: Double) async throws {
        let journal = try await stepped(by: step, [Self.plain]) { try await $0.offer("a", at: 0) }
        // Set back, the delivery is as old as the start of the process; set forth, it is two hours older than it was.
        let accepted = step < 0 ? 30 + step : 0
        let age = 48.0 * 60
        func giveUp(_ minute: Double) async -> GivenUp {
            await journal.journal.giveUp(
                sink: "sink", acceptedBy: Story.instant((minute - age) * 60), at: Story.instant(minute * 60))
        }
        let early = await giveUp(accepted + age - 1)
        #expect(early == GivenUp(count: 0, oldest: Story.instant(accepted * 60)))
        #expect(await giveUp(accepted + age).count == 1)
        #expect(await journal.counters().dead == 1)
    }

    @Test(arguments: steps) func theHistoryIsKeptInTheOrderOfReceipt(step: Double) async throws {
        var journal = try await stepped(
            by: step, [Self.plain], history: HistoryPolicy(keep: .seconds(4 * 3600))
        ) { journal in
            try await journal.offer("a", at: 0)
            try await journal.deliver(at: 1)
        }
        try await journal.offer("b", at: 31 + step)
        let reader = try JournalReader(folder: journal.folder.path)
        let entries = try reader.history(HistoryFilter(), limit: 9)
        #expect(entries.map(\.receivedAt) == [Story.instant((31 + step) * 60), Story.midnight])
        #expect(entries.map { $0.effects.map(\.outcome) } == [[.pending], [.delivered]])
        try await journal.offer("c", at: 239)
        #expect(try reader.recordedCount() == 3)
        // What was received by the clock before goes when its time has come by this one, and not before.
        try await journal.offer("d", at: 241)
        #expect(try reader.recordedCount() == (step < 0 ? 2 : 3))
        try await journal.offer("e", at: 241 + 151)
        #expect(try reader.recordedCount() == 3)
    }

    // MARK: What goes by the wall clock

    @Test(arguments: steps) func quietHoursGoByTheWallClock(step: Double) async throws {
        let held = EffectPolicy(rule: "rule", hold: "night")
        let plan = Fixtures.plan([held], sinks: ["sink"], times: ["night": try Story.night()])
        let folder = try JournalFolder()
        let journal = try await folder.open(plan, at: KilledJournal.moment(21 * 60)).journal
        func offer(_ id: String, at minute: Double, wall: Double) async throws -> Acceptance? {
            try await journal.accept(
                Fixtures.intakes([id]), progress: [], at: KilledJournal.moment(minute, wall: wall)
            ).first?.first
        }
        // At 23:00 by the relay's time: it is 21:00 or 01:00.
        let acceptance = try await offer("a", at: 23 * 60, wall: 23 * 60 + step)
        let morning = step < 0 ? nil : Story.instant(31 * 3600)
        #expect(acceptance == (morning.map { .held(time: "night", until: $0) } ?? .stored))
        guard let morning else { return }
        #expect(try await journal.advance(to: KilledJournal.moment(24 * 60, wall: 26 * 60)) == [.wall(morning)])
        // Set back again, the night goes on; set forth, it is over.
        _ = try await journal.advance(to: KilledJournal.moment(25 * 60, wall: 25 * 60))
        #expect(await journal.deliver(at: morning) == [])
        _ = try await journal.advance(to: KilledJournal.moment(26 * 60, wall: 31 * 60))
        #expect(await journal.deliver(at: morning) == ["night: 1"])
    }

    @Test func theEndOfASilenceGoesByTheWallClock() async throws {
        var journal = try await KilledJournal([Self.plain])
        _ = try await journal.journal.addSilence(
            Silence.Matcher(kind: "like"), until: Story.instant(3600), at: KilledJournal.moment(0))
        #expect(try await journal.offer("a", at: 61, wall: 59) == .suppressed(.silenced))
        try await journal.restart(at: 50)
        #expect(try await journal.offer("b", at: 59) == .suppressed(.silenced))
        #expect(try await journal.offer("c", at: 59.5, wall: 60) == .stored)
    }
}
