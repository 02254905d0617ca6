internal import GLibRuntime
package import RelayCore

/// A clock that stands still until a test advances it.
///
/// A test awaits what sleeps (`nextDeadline`) before it advances, so nothing depends on who runs first.
package final class TestClock: RelayClock {
    private struct Sleeper {
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Instant
        var serial = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var watchers: [Watcher] = []
    }

    private struct Watcher {
        var limit: Instant
        var continuation: CheckedContinuation<Instant, Never>
    }

    private let state: Locked<State>

    /// Creates a clock that shows `now`.
    package init(_ now: Instant = Instant(milliseconds: 1_900_000_000_000)) {
        state = Locked(State(now: now))
    }

    package func now() -> Instant { state.withLock { $0.now } }

    package func wallNow() -> Instant { now() }

    package func sleep(until deadline: Instant) async throws {
        let serial = state.withLock { state in
            state.serial += 1
            return state.serial
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(serial, Sleeper(deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: serial)
                if sleeper == nil { state.cancelled.insert(serial) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func enter(_ serial: Int, _ sleeper: Sleeper) {
        enum Verdict { case sleeps, cancelled, due }
        let (verdict, watchers) = state.withLock { state -> (Verdict, [Watcher]) in
            if state.cancelled.remove(serial) != nil { return (.cancelled, []) }
            if sleeper.deadline <= state.now { return (.due, []) }
            state.sleepers[serial] = sleeper
            defer { state.watchers.removeAll { sleeper.deadline <= $0.limit } }
            return (.sleeps, state.watchers.filter { sleeper.deadline <= $0.limit })
        }
        switch verdict {
        case .sleeps: for watcher in watchers { watcher.continuation.resume(returning: sleeper.deadline) }
        case .cancelled: sleeper.continuation.resume(throwing: CancellationError())
        case .due: sleeper.continuation.resume()
        }
    }

    /// Returns the earliest deadline that somebody sleeps for, as soon as somebody sleeps.
    ///
    /// Sleepers that sleep longer than `within` do not count.
    package func nextDeadline(within: Duration? = nil) async -> Instant {
        await withCheckedContinuation { continuation in
            let earliest = state.withLock { state in
                let limit = within.map { state.now + $0 } ?? .distantFuture
                let earliest = state.sleepers.values.map(\.deadline).filter { $0 <= limit }.min()
                if earliest == nil { state.watchers.append(Watcher(limit: limit, continuation: continuation)) }
                return earliest
            }
            if let earliest { continuation.resume(returning: earliest) }
        }
    }

    /// Moves the time forward and wakes everybody who is due.
    package func advance(by duration: Duration) {
        advance(to: now() + duration)
    }

    /// Moves the time forward to `instant` and wakes everybody who is due.
    package func advance(to instant: Instant) {
        let due = state.withLock { state in
            state.now = max(state.now, instant)
            let now = state.now
            let due = state.sleepers.filter { $0.value.deadline <= now }
            for serial in due.keys { state.sleepers[serial] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Awaits a sleeper and moves the time to its deadline.
    ///
    /// - Returns: how far the time moved.
    @discardableResult
    package func advanceToNextDeadline(within: Duration? = nil) async -> Duration {
        let deadline = await nextDeadline(within: within)
        let before = now()
        advance(to: deadline)
        return deadline - before
    }
}

/// The real time, for tests over real sockets.
package struct BootClock: RelayClock {
    /// Creates the clock.
    package init() {}

    package func now() -> Instant { Instant(milliseconds: BootTime.milliseconds()) }

    package func wallNow() -> Instant { Instant(milliseconds: WallTime.milliseconds()) }

    package func sleep(until deadline: Instant) async throws {
        try await BootTime.sleep(untilMilliseconds: deadline.milliseconds)
    }
}
