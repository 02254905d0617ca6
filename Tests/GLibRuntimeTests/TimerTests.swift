import GLibRuntime
import Testing

@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct TimerTests {
    @Test func timersFireInOrderOfDeadlines() async {
        let fired = Published<Int>()
        let now = BootTime.milliseconds()
        let timers = [30, 10, 20].map { delay in
            let timer = LoopTimer { _ in fired.publish(delay) }
            timer.schedule(atBootMilliseconds: now + Int64(delay))
            return timer
        }
        for expected in [10, 20, 30] { #expect(await fired.next() == expected) }
        #expect(BootTime.milliseconds() >= now + 30)
        withExtendedLifetime(timers) {}
    }

    @Test func timersOfOneDeadlineFireInOrderOfScheduling() async {
        let fired = Published<Int>()
        let deadline = BootTime.milliseconds() + 5
        let timers = (0..<20).map { index in
            let timer = LoopTimer { _ in fired.publish(index) }
            timer.schedule(atBootMilliseconds: deadline)
            return timer
        }
        for expected in 0..<20 { #expect(await fired.next() == expected) }
        withExtendedLifetime(timers) {}
    }

    @Test func pastDeadlineFiresWithItsLateness() async {
        let fired = Published<Duration>()
        let timer = LoopTimer { fired.publish($0) }
        timer.schedule(atBootMilliseconds: BootTime.milliseconds() - 20_000)
        let lateness = await fired.next()
        #expect(lateness.map { $0 >= .seconds(20) && $0 < .seconds(30) } == true)
    }

    @Test func farAndCancelledAndReleasedTimersDoNotFire() async {
        let fired = Published<String>()
        let now = BootTime.milliseconds()
        let far = LoopTimer { _ in fired.publish("far") }
        far.schedule(atBootMilliseconds: .max)
        let nextDay = LoopTimer { _ in fired.publish("next day") }
        nextDay.schedule(after: .seconds(86_400))
        let cancelled = LoopTimer { _ in fired.publish("cancelled") }
        cancelled.schedule(atBootMilliseconds: now + 5)
        var released: LoopTimer? = LoopTimer { _ in fired.publish("released") }
        released?.schedule(atBootMilliseconds: now + 5)
        cancelled.cancel()
        released = nil
        let last = LoopTimer { _ in fired.publish("last") }
        last.schedule(atBootMilliseconds: now + 30)
        #expect(await fired.next() == "last")
        withExtendedLifetime((far, nextDay, released)) {}
    }

    @Test func dueTimerCancelledByAnEarlierHandlerDoesNotFire() async {
        let fired = Published<String>()
        let deadline = BootTime.milliseconds() - 10
        let second = LoopTimer { _ in fired.publish("second") }
        let first = LoopTimer { _ in second.cancel() }
        let third = LoopTimer { _ in fired.publish("third") }
        for timer in [first, second, third] { timer.schedule(atBootMilliseconds: deadline) }
        #expect(await fired.next() == "third")
    }

    @Test func rescheduledTimerFiresOnceAtItsNewDeadline() async {
        let fired = Published<Int64>()
        let now = BootTime.milliseconds()
        let timer = LoopTimer { _ in fired.publish(BootTime.milliseconds()) }
        timer.schedule(atBootMilliseconds: now + 1)
        timer.schedule(atBootMilliseconds: now + 40)
        let last = LoopTimer { _ in fired.publish(-1) }
        last.schedule(atBootMilliseconds: now + 60)
        #expect(await fired.next().map { $0 >= now + 40 } == true)
        #expect(await fired.next() == -1)
    }

    @Test func timerMayRearmItself() async {
        let fired = Published<Int>()
        var count = 0
        var timer: LoopTimer?
        timer = LoopTimer { _ in
            count += 1
            fired.publish(count)
            if count < 3 { timer?.schedule(after: .zero) }
        }
        timer?.schedule(after: .zero)
        for expected in 1...3 { #expect(await fired.next() == expected) }
        timer = nil
    }

    @Test func timersOfManySeedsFireInOrder() async {
        for seed in 0..<20 as Range<UInt64> {
            var state = seed &* 6_364_136_223_846_793_005 &+ 1
            let fired = Published<Int64>()
            let now = BootTime.milliseconds()
            var timers: [LoopTimer] = []
            var kept: [Int64] = []
            for _ in 0..<40 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let delay = Int64(state >> 59)
                let timer = LoopTimer { _ in fired.publish(delay) }
                timer.schedule(atBootMilliseconds: now + delay)
                timers.append(timer)
                if state >> 32 & 3 == 0 { timer.cancel() } else { kept.append(delay) }
            }
            var order: [Int64] = []
            for _ in kept { if let delay = await fired.next() { order.append(delay) } }
            #expect(order == kept.sorted(), "seed \(seed)")
            withExtendedLifetime(timers) {}
        }
    }

    @Test func sleepReturnsAtItsDeadline() async throws {
        let deadline = BootTime.milliseconds() + 20
        try await BootTime.sleep(untilMilliseconds: deadline)
        #expect(BootTime.milliseconds() >= deadline)
    }

    @Test func cancelledSleepThrowsAtOnce() async {
        let task = Task { try await BootTime.sleep(untilMilliseconds: .max) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func sleepUnderWayIsCancelled() async {
        let started = Published<Void>()
        let task = Task { @MainLoop in
            started.publish(())
            try await BootTime.sleep(untilMilliseconds: .max)
        }
        _ = await started.next()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func wallTimeIsOfThisCentury() {
        #expect(WallTime.milliseconds() > 1_600_000_000_000)
    }
}
