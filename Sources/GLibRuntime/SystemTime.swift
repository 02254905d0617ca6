internal import Glibc

/// The clock that never goes back and counts suspend: `CLOCK_BOOTTIME`.
package enum BootTime {
    /// Returns the milliseconds since the machine started.
    package static func milliseconds() -> Int64 {
        read(CLOCK_BOOTTIME)
    }

    /// Returns when the clock reaches `deadline`; wakes at resume if that passed in suspend.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    @MainLoop package static func sleep(untilMilliseconds deadline: Int64) async throws {
        try Task.checkCancellation()
        let pending = Pending<Void>()
        let timer = LoopTimer { _ in pending.finish(.success(())) }
        timer.schedule(atBootMilliseconds: deadline)
        defer { timer.cancel() }
        try await pending.value()
    }
}

/// The wall clock: `CLOCK_REALTIME`.
package enum WallTime {
    /// Returns the milliseconds since 1970-01-01T00:00:00Z.
    package static func milliseconds() -> Int64 {
        read(CLOCK_REALTIME)
    }
}

private func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}
