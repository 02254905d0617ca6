/// Calls a closure on the loop when boot time reaches a deadline.
///
/// It fires once a `schedule`; what suspend made late fires at resume. A timer that is released does not fire.
@MainLoop
package final class LoopTimer {
    private let handler: @MainLoop (_ lateness: Duration) -> Void
    /// The entry in the queue that counts; an entry with another serial is out of date.
    private(set) var armed: TimerQueue.Key?

    /// Creates a timer that is not armed.
    ///
    /// The handler is told by how much the deadline was missed.
    package init(_ handler: @escaping @MainLoop (_ lateness: Duration) -> Void) {
        self.handler = handler
    }

    isolated deinit {
        cancel()
    }

    /// Arms the timer for `deadline` of ``BootTime``, instead of any earlier deadline; a past one fires soon.
    package func schedule(atBootMilliseconds deadline: Int64) {
        cancel()
        armed = TimerQueue.shared.add(self, deadline: deadline)
    }

    /// Arms the timer for `delay` from now, instead of any earlier deadline.
    package func schedule(after delay: Duration) {
        let (seconds, attoseconds) = delay.components
        let scaled = seconds.multipliedReportingOverflow(by: 1000)
        let sum = scaled.partialValue.addingReportingOverflow(attoseconds / 1_000_000_000_000_000 + 1)
        let deadline = sum.partialValue.addingReportingOverflow(BootTime.milliseconds())
        let isFarOff = scaled.overflow || sum.overflow || deadline.overflow
        schedule(atBootMilliseconds: isFarOff ? (seconds < 0 ? 0 : .max) : deadline.partialValue)
    }

    /// Disarms the timer.
    package func cancel() {
        guard let armed else { return }
        self.armed = nil
        TimerQueue.shared.remove(armed)
    }

    /// Runs the handler, for the queue.
    func fire(lateness: Duration) {
        armed = nil
        handler(lateness)
    }
}
