internal import CGLib
internal import Glibc

/// Runs Swift jobs on the GLib main loop, on a thread of its own that lives as long as the process.
///
/// Jobs queue behind a lock; a `GSource` whose ready time is set to "now" wakes the loop. One wake-up runs all jobs
/// that have queued by then.
package final class MainLoopExecutor: SerialExecutor {
    private struct Queue {
        var jobs: [UnownedJob] = []
        var isWoken = false
    }

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
            { data in
                guard let data else { return gboolean(0) }
                Unmanaged<MainLoopExecutor>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.runJobs() }
                return gboolean(1)
            }, Unmanaged.passRetained(self).toOpaque())
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
        g_main_context_push_thread_default(context)
        while true { g_main_context_iteration(context, 1) }
    }

    private func runJobs() {
        let jobs = queue.withLock { queue in
            queue.isWoken = false
            let jobs = queue.jobs
            queue.jobs.removeAll(keepingCapacity: true)
            return jobs
        }
        for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustWake = queue.withLock { queue in
            queue.jobs.append(job)
            defer { queue.isWoken = true }
            return !queue.isWoken
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
