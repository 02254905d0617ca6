import GLibRuntime
import RelayCore
import RelayJournal
import RelayTestKit
import Testing

@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct OutboxWorkerTests: WorkerSuite {
    let clock = TestClock()
    let journal = MemoryJournal(plan: Fixtures.plan())
    let recorded = RecordedLog()
    var policy = OutboxWorker.Policy()

    init() {
        policy.backoff = Self.plainBackoff
    }

    @Test func deliversWhatIsAcceptedInOrder() async throws {
        let sink = ScriptedSink()
        try accept("a", "b")
        await running(worker(sink)) {
            var attempts = sink.attempts.makeAsyncIterator()
            #expect(await next(&attempts) == .init("a", 1))
            #expect(await next(&attempts) == .init("b", 1))
            _ = try? accept("c")
            #expect(await next(&attempts) == .init("c", 1))
        }
        #expect(counters() == [3, 0, 0, 0])
    }

    @Test func retriesWithDelaysThatDoubleToTheCap() async throws {
        let sink = ScriptedSink { $0.number <= 12 ? .retry(after: nil, because: "busy") : .delivered }
        try accept("a")
        var delays: [Duration] = []
        await running(worker(sink)) {
            var attempts = sink.attempts.makeAsyncIterator()
            for number in 1...12 {
                #expect(await next(&attempts) == .init("a", number))
                delays.append(await advance())
            }
            #expect(await next(&attempts) == .init("a", 13))
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900].map { .seconds($0) })
        #expect(counters() == [1, 0, 0, 0])
        #expect(recorded.entries.count { $0.level == .warning } == 1)
        #expect(recorded.text.contains("delivering again"))
    }

    @Test func retryAfterLengthensTheDelayAndPausesTheWholeSink() async throws {
        let (start, attemptedAt) = (clock.now(), Locked<[Duration]>([]))
        let sink = ScriptedSink(inFlight: 4) { [clock] attempt in
            attemptedAt.withLock { $0.append(clock.now() - start) }
            return attempt == .init("a", 1) ? .retry(after: .seconds(60), because: "busy") : .delivered
        }
        let other = ScriptedSink("other")
        try accept("a")
        await running(worker(sink), worker(other)) {
            _ = await recorded.first(containing: "tried again")
            clock.advance(by: .seconds(59))
            _ = try? accept("b")
            // When the other sink has had its turns, this one has had its own.
            for key in ["x", "y", "z"] {
                _ = try? accept(key, to: "other")
                for await attempt in other.attempts where attempt.key == key { break }
            }
            clock.advance(by: .seconds(1))
            for await attempt in sink.attempts where attempt.key == "b" { break }
        }
        #expect(attemptedAt.withLock { $0 } == [.zero, .seconds(60), .seconds(60)])
        #expect(counters() == [2, 0, 0, 0])
    }

    @Test func aPauseHoldsBackWhatFollowsAnAttemptThatSucceedsInIt() async throws {
        let (start, attemptedAt) = (clock.now(), Locked<[Duration]>([]))
        let sink = ScriptedSink(inFlight: 2) { [clock] attempt in
            switch attempt.key {
            case "a" where attempt.number == 1: return .retry(after: .seconds(60), because: "busy")
            case "b": return nil
            case "c":
                attemptedAt.withLock { $0.append(clock.now() - start) }
                return .delivered
            default: return .delivered
            }
        }
        try accept("a", "b", "c")
        await running(worker(sink)) {
            for await attempt in sink.attempts where attempt.key == "b" { break }
            _ = await recorded.first(containing: "tried again")
            sink.finish("b", .delivered)
            _ = await recorded.first(containing: "delivering again")
            await advance()
            for await attempt in sink.attempts where attempt.key == "c" { break }
        }
        #expect(attemptedAt.withLock { $0 } == [.seconds(60)])
        #expect(counters() == [3, 0, 0, 0])
    }

    @Test func retryAfterNeverShortensADelay() async throws {
        let sink = ScriptedSink { $0.number <= 5 ? .retry(after: .milliseconds(10), because: "busy") : .delivered }
        try accept("a")
        var passed = Duration.zero
        await running(worker(sink)) {
            var attempts = sink.attempts.makeAsyncIterator()
            for number in 1...5 {
                #expect(await next(&attempts) == .init("a", number))
                let due = clock.now() + .seconds(1 << (number - 1))
                while clock.now() < due { passed += await advance() }
            }
            #expect(await next(&attempts) == .init("a", 6))
        }
        #expect(passed == .seconds(31))
    }

    @Test func aPauseIsNeverLongerThanAnHour() async throws {
        let sink = ScriptedSink { $0.number == 1 ? .retry(after: .seconds(1_000_000), because: "busy") : .delivered }
        try accept("a")
        await running(worker(sink)) {
            #expect(await advance() == .seconds(3600))
            for await attempt in sink.attempts where attempt.number == 2 { break }
        }
        #expect(counters() == [1, 0, 0, 0])
    }

    @Test func inOrderARetryHoldsBackTheOthers() async throws {
        let sink = ScriptedSink { $0 == .init("a", 1) ? .retry(after: nil, because: "busy") : .delivered }
        try accept("a", "b")
        await running(worker(sink)) {
            await advance()
            var attempts = sink.attempts.makeAsyncIterator()
            #expect(await next(&attempts) == .init("a", 1))
            #expect(await next(&attempts) == .init("a", 2))
            #expect(await next(&attempts) == .init("b", 1))
        }
    }

    @Test func outOfOrderARetryHoldsBackNothing() async throws {
        let sink = ScriptedSink(inFlight: 2) { $0 == .init("a", 1) ? .retry(after: nil, because: "busy") : .delivered }
        try accept("a", "b", "c")
        await running(worker(sink)) {
            var attempts = sink.attempts.makeAsyncIterator()
            #expect(await Set([next(&attempts)?.key, next(&attempts)?.key, next(&attempts)?.key]) == ["a", "b", "c"])
            await advance()
            #expect(await next(&attempts) == .init("a", 2))
        }
        #expect(counters() == [3, 0, 0, 0])
    }

    @Test func aRejectedDeliveryIsDeadAndTheNextOneGoes() async throws {
        let sink = ScriptedSink { $0.key == "a" ? .rejected(because: "bad body") : .delivered }
        try accept("a", "b")
        await running(worker(sink)) {
            for await attempt in sink.attempts where attempt.key == "b" { break }
        }
        #expect(counters() == [1, 0, 0, 1])
        #expect(recorded.text.contains("warning outbox a delivery was refused and is dead"))
        #expect(recorded.text.contains("because=bad body"))
    }

    @Test func aStoppedSinkKeepsEverythingPending() async throws {
        let sink = ScriptedSink { _ in .stopped(because: "the token is refused") }
        try accept("a", "b")
        let worker = worker(sink)
        await running(worker) { _ = await recorded.first(containing: "stopped") }
        #expect(worker.stoppedBecause == "the token is refused")
        #expect(counters() == [0, 0, 2, 0])
        #expect(recorded.entries.count { $0.level == .error } == 1)
        let again = journal.claim(
            ClaimRequest(sink: "sink", upTo: 9, lease: .seconds(9), inOrder: true), at: clock.now() + .seconds(1))
        #expect(again.claims.map(\.attempt) == [1])
    }

    @Test func attemptsBesideTheOneThatStoppedTheSinkTellNothingAgain() async throws {
        let sink = ScriptedSink(inFlight: 3) { _ in .stopped(because: "the token is refused") }
        try accept("a", "b", "c")
        let worker = worker(sink)
        await running(worker) { _ = await recorded.first(containing: "stopped") }
        #expect(worker.stoppedBecause == "the token is refused")
        #expect(counters() == [0, 0, 3, 0])
        #expect(recorded.entries.count { $0.level == .error } == 1)
    }

    @Test func aDeliveryThatCannotBeDeliveredIsDeadAtTheGiveUpAge() async throws {
        let sink = ScriptedSink { _ in .retry(after: .seconds(1800), because: "busy") }
        try accept("a")
        await running(worker(sink)) {
            // Every half hour, until the next one would be 48 hours after the first.
            var attempts = sink.attempts.makeAsyncIterator()
            for number in 1...96 {
                #expect(await next(&attempts) == .init("a", number))
                if number < 96 { await advance(within: .seconds(1800)) }
            }
            _ = await recorded.first(containing: "given up")
        }
        #expect(counters() == [0, 0, 0, 1])
    }

    @Test func whatGrewTooOldWhileTheSinkWasAwayIsDeadWithoutAnAttempt() async throws {
        let sink = ScriptedSink(isReady: false)
        try accept("old")
        await running(worker(sink)) {
            clock.advance(by: .seconds(48 * 3600))
            _ = try? accept("new")
            sink.becomeReady()
            var attempts = sink.attempts.makeAsyncIterator()
            #expect(await next(&attempts) == .init("new", 1))
        }
        #expect(counters() == [1, 0, 0, 1])
    }

    @Test func anAbsentSinkIsAwaitedAndCostsNoAttempt() async throws {
        let sink = ScriptedSink(isReady: false)
        try accept("a")
        let worker = worker(sink)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await worker.run() }
            clock.advance(by: .seconds(3600))
            sink.becomeReady()
            var attempts = sink.attempts.makeAsyncIterator()
            #expect(await next(&attempts) == .init("a", 1))
            await worker.drain()
        }
        #expect(counters() == [1, 0, 0, 0])
    }

    @Test func drainingDoesNotWaitForAnAbsentSink() async throws {
        let sink = ScriptedSink(isReady: false)
        try accept("a")
        await running(worker(sink)) {}
        #expect(counters() == [0, 0, 1, 0])
    }

    @Test func drainingDeliversWhatIsDueAndLeavesWhatWaits() async throws {
        let sink = ScriptedSink(inFlight: 2) { attempt in
            switch attempt.key {
            case "waits": .retry(after: nil, because: "busy")
            case "first": nil
            default: .delivered
            }
        }
        try accept("waits", "first", "b", "c", "d")
        let worker = worker(sink)
        await running(worker) {
            for await attempt in sink.attempts where attempt.key == "first" { break }
            await worker.drain()
            sink.finish("first", .delivered)
        }
        #expect(counters() == [4, 0, 1, 0])
    }

    @Test func cancellationSettlesTheClaimsInHand() async throws {
        let sink = ScriptedSink(inFlight: 2) { _ in nil }
        try accept("a", "b", "c")
        let worker = worker(sink)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await worker.run() }
            var attempts = sink.attempts.makeAsyncIterator()
            #expect(await Set([next(&attempts)?.key, next(&attempts)?.key]) == ["a", "b"])
            group.cancelAll()
        }
        #expect(counters() == [0, 0, 3, 0])
        // Nothing is leased any more: all can be claimed long before a lease would end.
        let claims = journal.claim(
            ClaimRequest(sink: "sink", upTo: 9, lease: .seconds(9)), at: clock.now() + .seconds(1))
        #expect(Set(claims.claims.compactMap(\.delivery.eventID)) == ["a", "b", "c"])
    }

    @Test(arguments: [1, 3]) func noMoreAttemptsRunThanTheSinkAllows(inFlight: Int) async throws {
        let sink = ScriptedSink(inFlight: inFlight) { _ in nil }
        try accept("1", "2", "3", "4", "5", "6")
        await running(worker(sink)) {
            var attempts = sink.attempts.makeAsyncIterator()
            for _ in 0..<6 {
                guard let attempt = await next(&attempts) else { return }
                sink.finish(attempt.key, .delivered)
            }
        }
        #expect(sink.mostRunning <= inFlight)
        #expect(counters() == [6, 0, 0, 0])
    }

    @Test func aLongAttemptIsNotMadeTwice() async throws {
        // The longest time-out that a rules file can set is five minutes.
        let sink = ScriptedSink(inFlight: 2) { _ in nil }
        try accept("a")
        await running(worker(sink)) {
            var attempts = sink.attempts.makeAsyncIterator()
            #expect(await next(&attempts) == .init("a", 1))
            clock.advance(by: .seconds(300))
            _ = try? accept("b")
            #expect(await next(&attempts) == .init("b", 1))
            sink.finish("b", .delivered)
            sink.finish("a", .delivered)
        }
        #expect(counters() == [2, 0, 0, 0])
    }

    @Test func aSinkThatHangsDelaysNoOther() async throws {
        let hung = ScriptedSink("hung") { _ in nil }
        let quick = ScriptedSink("quick")
        try accept("a", to: "hung")
        let (first, second) = (worker(hung), worker(quick))
        await withTaskGroup(of: Void.self) { group in
            for worker in [first, second] { group.addTask { await worker.run() } }
            for await _ in hung.attempts { break }
            var attempts = quick.attempts.makeAsyncIterator()
            for number in 0..<100 {
                _ = try? accept("q\(number)", to: "quick")
                #expect(await next(&attempts) == .init("q\(number)", 1))
            }
            group.cancelAll()
        }
        #expect(counters("quick").first ?? 0 >= 99)
        #expect(counters("hung") == [0, 0, 1, 0])
    }

    @Test func aDeadSinkIsAskedSeldomHoweverMuchWaits() async throws {
        let attempts = Locked(0)
        let sink = ScriptedSink(inFlight: 10) { _ in
            attempts.withLock { $0 += 1 }
            return .retry(after: nil, because: "503")
        }
        for number in 0..<300 { try accept("k\(number)") }
        let end = clock.now() + .seconds(600)
        await running(worker(sink)) {
            while clock.now() < end { _ = await advance() }
        }
        // Ten at once, and then one after each pause: 1 s, 2 s, 4 s and so on up to five minutes.
        let count = attempts.withLock { $0 }
        #expect(count > 11 && count < 30)
        #expect(counters() == [0, 0, 300, 0])
    }
}
