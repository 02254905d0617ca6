internal import CGLib
internal import Glibc

/// Runs Swift jobs on the GLib main loop, on a thread of its own that lives as long as the process.
///
/// Jobs queue behind a lock; a `GSource` whose ready time is set to "now" wakes the loop. A job that comes from the
/// loop's own thread wakes nothing: queued jobs run before the loop looks at its sources again.
///
/// It is also a task executor. A task that awaits a continuation or a child is resumed on the shared pool and comes
/// back from there, which costs two changes of thread, unless the task prefers this executor.
package final class MainLoopExecutor: SerialExecutor, TaskExecutor {
    private struct Queue {
        var jobs: [UnownedJob] = []
        var isWoken = false
    }

    /// How many times in a row jobs may queue further ones before the sources get their turn.
    private static let mostRounds = 16

    // The context and the source are used by their own thread, and from others only through the two GLib calls
    // that are documented as thread-safe (g_source_set_ready_time, g_main_context_is_owner).
    nonisolated(unsafe) private let context: OpaquePointer
    nonisolated(unsafe) private var source: UnsafeMutablePointer<GSource>?
    private let queue = Locked(Queue())

    /// Starts the thread, under `name`.
    package init(name: String) {
        context = g_main_context_new()
        source = relay_wake_source_new(
            context,
            // It only ends the sleep: `loop` runs the jobs.
            { _ in gboolean(1) }, nil)
        let thread = g_thread_new(
            name,
            { argument in
                guard let argument else { return nil }
                Unmanaged<MainLoopExecutor>.fromOpaque(argument).takeRetainedValue().loop()
            }, Unmanaged.passRetained(self).toOpaque())
        g_thread_unref(thread)
    }

    private func loop() -> Never {
        // A thread of the concurrency runtime blocks all signals; started from one, this thread would too, and so
        // would every command it runs: they could not be terminated.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        // The thread owns the context from here on.
        g_main_context_push_thread_default(context)
        var jobs: [UnownedJob] = []
        while true {
            var rounds = 0
            while rounds < Self.mostRounds, takeJobs(&jobs) {
                rounds += 1
                for job in jobs {
                    job.runSynchronously(
                        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
                }
            }
            g_main_context_iteration(context, rounds < Self.mostRounds ? 1 : 0)
        }
    }

    /// Exchanges `jobs`, which have run, for those that queued meanwhile; returns whether there are any.
    private func takeJobs(_ jobs: inout [UnownedJob]) -> Bool {
        jobs.removeAll(keepingCapacity: true)
        queue.withLock { queue in
            queue.isWoken = false
            swap(&queue.jobs, &jobs)
        }
        return !jobs.isEmpty
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isOwnThread = g_main_context_is_owner(context) != 0
        let mustWake = queue.withLock { queue in
            queue.jobs.append(job)
            guard !isOwnThread, !queue.isWoken else { return false }
            queue.isWoken = true
            return true
        }
        if mustWake { g_source_set_ready_time(source, 0) }
    }

    package func checkIsolated() {
        precondition(g_main_context_is_owner(context) != 0, "not on the main loop's thread")
    }

    package func isIsolatingCurrentContext() -> Bool? {
        g_main_context_is_owner(context) != 0
    }

    /// The loop's `GMainContext *`, for attaching sources.
    var mainContext: OpaquePointer { context }
}
