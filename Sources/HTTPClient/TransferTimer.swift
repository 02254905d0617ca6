internal import GLibRuntime

/// Wakes the main loop when libcurl wants to look at its time-outs.
///
/// libcurl moves its deadline several times a request, and nearly always back: from the time-out of a transfer that
/// ended to that of the next one. So a timer that is set stays as it is while it rings early enough, and when it
/// rings before the deadline it is set again: one system call a time-out instead of several a request.
///
/// Time is the one that libcurl measures, which stands still in suspend. A call that came too early by that clock
/// would be the last one: libcurl tells a deadline only once.
@MainLoop
final class TransferTimer {
    private typealias Time = SuspendingClock.Instant

    private var timer: LoopTimer?
    private var deadline: Time?
    private var ringsAt: Time?

    /// Creates a timer that is not set.
    init(_ handler: @escaping @MainLoop () -> Void) {
        timer = LoopTimer { [weak self] _ in
            if let self, ring() { handler() }
        }
    }

    /// Sets the deadline, or none.
    func set(afterMilliseconds milliseconds: Int?) {
        guard let milliseconds else {
            deadline = nil
            return
        }
        let now = SuspendingClock.now
        // A year is more than any time-out and keeps the sum in range.
        let deadline = now.advanced(by: .milliseconds(min(max(milliseconds, 0), 31_536_000_000)))
        self.deadline = deadline
        if let ringsAt, ringsAt <= deadline { return }
        arm(at: deadline, now)
    }

    /// Takes note that the timer rang, and returns whether the deadline has come.
    private func ring() -> Bool {
        ringsAt = nil
        guard let deadline else { return false }
        let now = SuspendingClock.now
        guard deadline <= now else {
            arm(at: deadline, now)
            return false
        }
        self.deadline = nil
        return true
    }

    private func arm(at time: Time, _ now: Time) {
        ringsAt = time
        timer?.schedule(after: now.duration(to: time))
    }
}
