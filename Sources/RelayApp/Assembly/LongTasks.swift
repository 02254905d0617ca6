internal import GLibRuntime
internal import RelayCore

/// Long tasks that come and go while others run: a task group to which tasks can be added at any time.
///
/// All of them are children of the task that calls `run`, and end with it.
@MainLoop
final class LongTasks {
    private var waiting: [@MainLoop @Sendable () async -> Void] = []
    private let bell = Doorbell()

    /// Starts a task; it begins when `run` runs.
    @discardableResult
    func start(_ body: @escaping @MainLoop @Sendable () async -> Void) -> LongTask {
        let task = LongTask()
        waiting.append { await task.run(body) }
        bell.ring()
        return task
    }

    /// Runs all tasks until its own task is cancelled, which cancels them.
    func run() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let bodies = waiting
                waiting = []
                for body in bodies { group.addLoopTask(body) }
                await bell.wait()
            }
            group.cancelAll()
        }
    }
}

/// One of the long tasks, to be ended apart from the others.
@MainLoop
final class LongTask {
    private let stopBell = Doorbell()
    private let endBell = Doorbell()

    fileprivate init() {}

    /// Cancels the task.
    func cancel() {
        stopBell.ring()
    }

    /// Returns when the task has ended, or when the caller's own is cancelled; for one caller, once.
    func ended() async {
        await endBell.wait()
    }

    /// Returns when the task has ended, at `deadline`, or when the caller's own is cancelled.
    func ended(by deadline: Instant, on clock: any RelayClock) async {
        await endBell.wait(until: deadline, on: clock)
    }

    /// Cancels the task and waits for its end.
    func end() async {
        cancel()
        await ended()
    }

    fileprivate func run(_ body: @escaping @MainLoop @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addLoopTask(body)
            group.addLoopTask { [stopBell] in await stopBell.wait() }
            await group.next()
            group.cancelAll()
        }
        endBell.ring()
    }
}
