internal import CCurl
internal import GLibRuntime
internal import Glibc

/// Wakes the main loop when libcurl wants to look at its time-outs.
///
/// libcurl moves its deadline several times a request, and nearly always back: from the time-out of a transfer that
/// ended to that of the next one. So a timer that is set stays as it is while it rings early enough; when it rings
/// before the deadline it is set again. That makes one system call a time-out instead of several a request.
@MainLoop
final class TransferTimer {
    private let descriptor: Int32
    private var watch: DescriptorWatch?
    /// When libcurl wants to be called, and when the timer rings: nanoseconds of CLOCK_MONOTONIC, libcurl's own clock.
    private var deadline: UInt64?
    private var ringsAt: UInt64?

    /// Creates a timer that is not set. The C function is timerfd_create.
    init(_ handler: @escaping @MainLoop () -> Void) {
        descriptor = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
        watch = DescriptorWatch(descriptor: descriptor, events: .readable) { [weak self] _ in
            guard let self, ring() else { return }
            handler()
        }
    }

    /// Sets the deadline, or none.
    func set(afterMilliseconds milliseconds: Int?) {
        guard let milliseconds else {
            deadline = nil
            return
        }
        // A year is more than any time-out, and keeps the sum from overflowing.
        let delay = UInt64(min(max(milliseconds, 0), 31_536_000_000)) * 1_000_000
        let deadline = Self.now() + delay
        self.deadline = deadline
        if let ringsAt, ringsAt <= deadline { return }
        arm(at: deadline)
    }

    /// Ends the timer.
    func cancel() {
        guard let watch else { return }
        self.watch = nil
        watch.cancel()
        close(descriptor)
    }

    /// Takes note that the timer rang, and returns whether the deadline has come.
    private func ring() -> Bool {
        var count: UInt64 = 0
        guard read(descriptor, &count, MemoryLayout<UInt64>.size) > 0 else { return false }
        ringsAt = nil
        guard let deadline else { return false }
        guard deadline <= Self.now() else {
            arm(at: deadline)
            return false
        }
        self.deadline = nil
        return true
    }

    private func arm(at time: UInt64) {
        ringsAt = time
        var setting = itimerspec()
        setting.it_value.tv_sec = time_t(time / 1_000_000_000)
        setting.it_value.tv_nsec = Int(time % 1_000_000_000)
        timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }

    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
