import GLibRuntime
import RelayCore
import RelayJournal
import RelayTestKit
import Testing

@testable import RelayApp

/// Digests close when they are due, without anything else happening.
@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct DigestTimerTests {
    private let clock = TestClock()
    private let journal: MemoryJournal
    private let accepter: Accepter
    private let timer: DigestTimer

    private static let digest = EffectPolicy(
        rule: "rule", digest: DigestPolicy(timing: .window(.seconds(60))), sinks: [0])

    init() {
        let plan = Fixtures.plan([Self.digest])
        journal = MemoryJournal(plan: plan)
        accepter = Accepter(journal: journal, plan: plan, clock: clock, log: .silent)
        let timer = DigestTimer(journal: journal, clock: clock, log: .silent)
        self.timer = timer
        accepter.onDeadline = { timer.note($0) }
    }

    private func add(_ ids: [String]) {
        for intake in Fixtures.intakes(ids) { accepter.add(intake) }
        accepter.wake()
    }

    /// Runs `body` beside the accepter and the timer.
    private func running(_ body: @escaping @MainLoop () async -> Void) async {
        let tasks = [Task { @MainLoop in await accepter.run() }, Task { @MainLoop in await timer.run() }]
        await body()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    private func claimed() async -> [Int] {
        while !Task.isCancelled {
            await journal.bell(for: "sink").wait()
            let claims = journal.claim(ClaimRequest(sink: "sink", upTo: 9, lease: .seconds(60)), at: clock.now())
                .claims
            if !claims.isEmpty { return claims.map(\.delivery.effects) }
        }
        return []
    }

    @Test func aDigestClosesByItself() async {
        await running {
            let start = clock.now()
            add(["a", "b"])
            #expect(await clock.nextDeadline() == start + .seconds(60))
            clock.advance(by: .seconds(60))
            #expect(await claimed() == [2])
            clock.advance(by: .seconds(500))
            // The next deadline is that of the next event: nothing slept for anything in between.
            let later = clock.now()
            add(["d"])
            #expect(await clock.nextDeadline() == later + .seconds(60))
        }
    }

    @Test func aNewPlanComesAfterWhatWasDecidedByTheOldOne() async {
        add(["a", "b"])
        let plain = EffectPolicy(rule: "rule", sinks: [0])
        let done = accepter.adopt(Fixtures.plan([plain], sinks: ["other", "sink"]))
        // By the new plan the first place is another sink.
        accepter.add(Fixtures.intakes(["c"])[0])
        accepter.wake()
        await running {
            await done.wait()
            timer.wake()
            #expect(await claimed() == [2])
            await journal.bell(for: "other").wait()
            let claims = journal.claim(ClaimRequest(sink: "other", upTo: 9, lease: .seconds(60)), at: clock.now())
                .claims
            #expect(claims.compactMap(\.delivery.eventID) == ["c"])
        }
    }
}
