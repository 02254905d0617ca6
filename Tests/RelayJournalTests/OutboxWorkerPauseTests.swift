import GLibRuntime
import RelayCore
import RelayJournal
import RelayTestKit
import Testing

/// When a worker stops, pauses, folds and lets others go past.
@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct OutboxWorkerPauseTests: WorkerSuite {
    let clock = TestClock()
    let journal = MemoryJournal(plan: Fixtures.plan())
    let recorded = RecordedLog()
    var policy = OutboxWorker.Policy()

    init() {
        policy.backoff = Self.plainBackoff
    }

    // MARK: Stopped

    @Test func aStoppedSinkGoesOnWithTheDeliveryAtWhichItStopped() async throws {
        let sink = ScriptedSink { $0 == .init("a", 1) ? .stopped(because: "410") : .delivered }
        try accept("a", "b")
        let worker = worker(sink)
        await running(worker) {
            var attempts = sink.attempts.makeAsyncIterator()
            #expect(await next(&attempts) == .init("a", 1))
            _ = await recorded.first(containing: "stopped")
            #expect(worker.stoppedBecause == "410")
            #expect(counters() == [0, 0, 2, 0])
            #expect(await worker.start())
            #expect(worker.stoppedBecause == nil)
            #expect(await next(&attempts) == .init("a", 2))
            #expect(await next(&attempts) == .init("b", 1))
            #expect(await !worker.start())
        }
        #expect(counters() == [2, 0, 0, 0])
        #expect(recorded.text.contains("started again"))
    }

    @Test func aStoppedSinkAttemptsNothingThatIsAcceptedLater() async throws {
        let sink = ScriptedSink { _ in .stopped(because: "401") }
        try accept("a")
        await running(worker(sink)) {
            _ = await recorded.first(containing: "stopped")
            for key in ["b", "c", "d"] {
                _ = try? accept(key)
                // It sleeps until the oldest is too old, and for nothing else.
                #expect(await clock.nextDeadline() == clock.now() + policy.giveUp)
            }
        }
        #expect(counters() == [0, 0, 4, 0])
        #expect(recorded.entries.count { $0.level == .error } == 1)
    }

    @Test func whatWaitsForAStoppedSinkIsDeadAtTheGiveUpAge() async throws {
        let sink = ScriptedSink { _ in .stopped(because: "401") }
        try accept("a", "b")
        let worker = worker(sink)
        await running(worker) {
            _ = await recorded.first(containing: "stopped")
            clock.advance(by: .seconds(3600))
            _ = try? accept("c")
            #expect(await clock.advanceToNextDeadline() == .seconds(47 * 3600))
            _ = await recorded.first(containing: "too old")
            #expect(counters() == [0, 0, 1, 2])
            #expect(await clock.advanceToNextDeadline() == .seconds(3600))
            _ = await recorded.first(where: { $0.fields.contains { $0.name == "count" && $0.value == "1" } })
            #expect(counters() == [0, 0, 0, 3])
        }
        #expect(worker.stoppedBecause != nil)
        #expect(journal.outbox(OutboxSelection(), limit: 9).map(\.lastError) == ["too old", "too old", "too old"])
    }

    @Test func whatWaitsForAnAbsentSinkIsDeadAtTheGiveUpAge() async throws {
        let sink = ScriptedSink(isReady: false)
        try accept("a")
        await running(worker(sink)) {
            #expect(await clock.advanceToNextDeadline() == policy.giveUp)
            _ = await recorded.first(containing: "too old")
        }
        #expect(counters() == [0, 0, 0, 1])
    }

    @Test func whatWaitsForASinkWithoutAWorkerIsDeadAtTheGiveUpAge() async throws {
        try accept("a")
        clock.advance(by: .seconds(3600))
        await withTaskGroup(of: Void.self) { group in
            let watch = AgeWatch(journal: journal, clock: clock, log: recorded.log)
            watch.watch(["sink"])
            group.addTask { await watch.run() }
            #expect(await clock.advanceToNextDeadline() == .seconds(47 * 3600))
            _ = await recorded.first(containing: "too old")
            #expect(counters() == [0, 0, 0, 1])
            // What is taken back has its own age.
            #expect((try? journal.retry(OutboxSelection(), to: nil, at: clock.now())) == 1)
            _ = try? accept("b")
            watch.look()
            #expect(await clock.advanceToNextDeadline() == policy.giveUp)
            _ = await recorded.first { $0.fields.contains { $0.name == "count" && $0.value == "2" } }
            group.cancelAll()
        }
        #expect(counters() == [0, 0, 0, 2])
    }

    // MARK: Pauses

    @Test func aServiceThatSaysTooMuchAndNotForHowLongGetsARestThatDoubles() async throws {
        let sink = ScriptedSink {
            $0 == .init("a", 9) ? .delivered : .retry(after: nil, because: "429", trouble: .overrun)
        }
        try accept("a")
        var rests: [Duration] = []
        await running(worker(sink)) {
            var attempts = sink.attempts.makeAsyncIterator()
            for number in 1...9 {
                #expect(await next(&attempts) == .init("a", number))
                if number < 9 { rests.append(await advance()) }
            }
            _ = await recorded.first(containing: "delivering again")
            // After a success it begins anew.
            _ = try? accept("b")
            #expect(await next(&attempts) == .init("b", 1))
            rests.append(await advance())
        }
        #expect(rests == [60, 120, 240, 480, 960, 1920, 3600, 3600, 60].map { .seconds($0) })
    }

    @Test func attemptsBesideTheFirstThatAreTooMuchLengthenNothing() async throws {
        let sink = ScriptedSink(inFlight: 4) { attempt in
            attempt.number == 1 ? .retry(after: nil, because: "429 \(attempt.key)", trouble: .overrun) : .delivered
        }
        try accept("a", "b", "c", "d")
        await running(worker(sink)) {
            for key in ["a", "b", "c", "d"] { _ = await recorded.first(containing: "429 \(key)") }
            #expect(await advance() == .seconds(60))
            var seen: Set<String> = []
            for await attempt in sink.attempts where attempt.number == 2 {
                seen.insert(attempt.key)
                if seen.count == 4 { break }
            }
        }
        #expect(counters() == [4, 0, 0, 0])
    }

    @Test(arguments: [
        (Duration.seconds(-5), Duration.seconds(1)), (.zero, .seconds(1)), (.milliseconds(1500), .milliseconds(1500)),
        (.seconds(30), .seconds(30)), (.seconds(Int64.max), .seconds(3600)),
    ])
    func aHintIsTakenAsFarAsItLengthens(hint: Duration, wait: Duration) async throws {
        let sink = ScriptedSink { $0.number == 1 ? .retry(after: hint, because: "503", trouble: .failed) : .delivered }
        try accept("a")
        await running(worker(sink)) {
            var attempts = sink.attempts.makeAsyncIterator()
            #expect(await next(&attempts) == .init("a", 1))
            #expect(await advance() == wait)
            #expect(await next(&attempts) == .init("a", 2))
        }
    }

    // MARK: Order

    @Test func oneThatAlwaysFailsStepsAsideAndTheOthersGoInOrder() async throws {
        let sink = ScriptedSink { attempt in
            attempt.key == "poison" ? .retry(after: nil, because: "500", trouble: .failed) : .delivered
        }
        try accept("a", "poison", "b", "c")
        await running(worker(sink)) {
            var attempts = sink.attempts.makeAsyncIterator()
            #expect(await next(&attempts) == .init("a", 1))
            // At 0, 1, 3, 7, 15, 31 and 63 s.
            for number in 1...7 {
                #expect(await next(&attempts) == .init("poison", number))
                if number < 7 { await advance() }
            }
            #expect(await next(&attempts) == .init("b", 1))
            #expect(await next(&attempts) == .init("c", 1))
            _ = try? accept("d")
            #expect(await next(&attempts) == .init("d", 1))
            #expect(await advance() == .seconds(64))
            #expect(await next(&attempts) == .init("poison", 8))
        }
        let left = journal.outbox(OutboxSelection(), limit: 9)
        #expect(left.map(\.isAside) == [true] && left.map(\.delivery.eventID) == ["poison"])
    }

    @Test func anOutageOfTheServiceChangesNoOrder() async throws {
        var suite = self
        suite.policy.backoff = Backoff(base: .seconds(10), cap: .seconds(10), floor: 1)
        let end = clock.now() + .seconds(300)
        let sink = ScriptedSink { [clock] _ in
            clock.now() < end ? .retry(after: nil, because: "503", trouble: .failed) : .delivered
        }
        try accept("a", "b", "c")
        await running(suite.worker(sink)) {
            var attempts = sink.attempts.makeAsyncIterator()
            for number in 1...30 {
                #expect(await next(&attempts) == .init("a", number))
                // From the minute on, each failure of the first lets the second be tried.
                if number >= 7 { #expect(await next(&attempts) == .init("b", number - 6)) }
                #expect(await advance() == .seconds(10))
            }
            #expect(await next(&attempts) == .init("a", 31))
            #expect(await next(&attempts) == .init("b", 25))
            #expect(await next(&attempts) == .init("c", 1))
        }
        #expect(counters() == [3, 0, 0, 0])
    }

    // MARK: Backlog

    @Test func whatWaitedWhileTheSinkWasAwayIsFolded() async throws {
        var suite = self
        suite.policy.backlog = .desktop
        let sink = ScriptedSink(isReady: false)
        for number in 0..<20 { try accept("k\(number)") }
        await running(suite.worker(sink)) {
            sink.becomeReady()
            _ = await recorded.first(containing: "folded")
            for await _ in sink.attempts { break }
        }
        #expect(counters() == [20, 0, 0, 0])
        #expect(recorded.text.contains("sink=sink rule=rule deliveries=20 digests=1"))
    }
}
