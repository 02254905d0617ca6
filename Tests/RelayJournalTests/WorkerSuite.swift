import GLibRuntime
import RelayCore
import RelayJournal
import RelayTestKit

/// Tests of workers over a journal in memory, with the time in hand.
@MainLoop
protocol WorkerSuite {
    var clock: TestClock { get }
    var journal: MemoryJournal { get }
    var recorded: RecordedLog { get }
    var policy: OutboxWorker.Policy { get }
}

extension WorkerSuite {
    /// Without jitter, so that every delay is known.
    static var plainBackoff: Backoff { Backoff(base: .seconds(1), cap: .seconds(900), floor: 1) }

    func worker(_ sink: ScriptedSink) -> OutboxWorker {
        OutboxWorker(sink: sink, journal: journal, clock: clock, log: recorded.log, policy: policy)
    }

    func accept(_ keys: String..., to sink: String = "sink") throws {
        _ = try journal.accept(Fixtures.intakes(keys, to: sink), at: clock.moment())
    }

    func counters(_ sink: String = "sink") -> [Int] {
        let counters = journal.counters()[sink] ?? SinkCounters()
        return [counters.delivered, counters.suppressed, counters.pending, counters.dead]
    }

    /// Runs workers beside `body`, and then until nothing is due any more.
    func running(_ workers: OutboxWorker..., body: () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            for worker in workers { group.addTask { await worker.run() } }
            await body()
            for worker in workers { await worker.drain() }
        }
    }

    /// Moves the time to what the worker waits for next, other than for deliveries to grow too old.
    @discardableResult
    func advance(within: Duration = .seconds(7200)) async -> Duration {
        await clock.advanceToNextDeadline(within: within)
    }

    func next(_ attempts: inout AsyncStream<ScriptedSink.Attempt>.Iterator) async -> ScriptedSink.Attempt? {
        await attempts.next(isolation: MainLoop.shared)
    }
}
