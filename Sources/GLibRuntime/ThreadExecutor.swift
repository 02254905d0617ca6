internal import CGLib
internal import Glibc

/// Runs the jobs of one actor on a thread of its own, for an actor whose calls block.
///
/// The thread sleeps while there is no job, and ends with the executor; the actor keeps it in a stored property.
package final class ThreadExecutor: SerialExecutor {
    private let core = Core()

    /// Starts the thread, under `name`, of which 15 bytes are shown.
    package init(name: String) {
        core.executor.withLock { $0 = asUnownedSerialExecutor() }
        let thread = g_thread_new(
            name,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Core>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(core).toOpaque())
        g_thread_unref(thread)
    }

    deinit {
        core.end()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        core.add(UnownedJob(job))
    }

    package func checkIsolated() {
        precondition(core.isOwnThread, "not on the thread of the executor")
    }

    package func isIsolatingCurrentContext() -> Bool? { core.isOwnThread }
}

/// What an executor shares with its thread, so that the thread does not keep the executor.
private final class Core: Sendable {
    private struct Queue {
        var jobs: [UnownedJob] = []
        var isSleeping = false
        var hasEnded = false
    }

    /// What a thread that looked into the queue does next.
    private enum Turn {
        case run, sleep, end
    }

    let executor = Locked<UnownedSerialExecutor?>(nil)
    private let queue = Locked(Queue())
    private let wake = Semaphore()
    /// The number of the thread; zero until it runs.
    private let thread = Locked<UInt>(0)

    var isOwnThread: Bool { thread.withLock { $0 } == UInt(pthread_self()) }

    func add(_ job: UnownedJob) {
        change { $0.jobs.append(job) }
    }

    func end() {
        change { $0.hasEnded = true }
    }

    private func change(_ change: (inout Queue) -> Void) {
        let mustWake = queue.withLock { queue in
            change(&queue)
            defer { queue.isSleeping = false }
            return queue.isSleeping
        }
        if mustWake { wake.signal() }
    }

    func run() {
        thread.withLock { $0 = UInt(pthread_self()) }
        guard let executor = executor.withLock({ $0 }) else { return }
        var jobs: [UnownedJob] = []
        while true {
            switch look(&jobs) {
            case .run: for job in jobs { job.runSynchronously(on: executor) }
            case .sleep: wake.wait()
            case .end: return
            }
        }
    }

    /// Exchanges `jobs`, which have run, for those that queued meanwhile.
    private func look(_ jobs: inout [UnownedJob]) -> Turn {
        jobs.removeAll(keepingCapacity: true)
        return queue.withLock { queue in
            swap(&queue.jobs, &jobs)
            if !jobs.isEmpty { return .run }
            if queue.hasEnded { return .end }
            queue.isSleeping = true
            return .sleep
        }
    }
}
