internal import GLibRuntime
internal import Glibc

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
    private var timer: LoopTimer?
    /// In milliseconds, as all times here.
    private var deadline: Int?
    private var ringsAt: Int?

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
        let now = Self.now()
        // A year is more than any time-out and keeps the sum in range; the one more makes up for rounding.
        let deadline = now + min(max(milliseconds, 0), 31_536_000_000) + 1
        self.deadline = deadline
        if let ringsAt, ringsAt <= deadline { return }
        arm(at: deadline, now)
    }

    /// Takes note that the timer rang, and returns whether the deadline has come.
    private func ring() -> Bool {
        ringsAt = nil
        guard let deadline else { return false }
        let now = Self.now()
        guard deadline <= now else {
            arm(at: deadline, now)
            return false
        }
        self.deadline = nil
        return true
    }

    private func arm(at time: Int, _ now: Int) {
        ringsAt = time
        timer?.schedule(after: .milliseconds(time - now))
    }

    /// The time by libcurl's clock, rounded down.
    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}
