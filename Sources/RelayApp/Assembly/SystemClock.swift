internal import GLibRuntime
internal import RelayCore

/// The real time: the wall clock at start, carried forward by `CLOCK_BOOTTIME`.
struct SystemClock: RelayClock {
    /// What to add to boot time to get relay time, in milliseconds.
    private let offset: Int64

    /// Starts relay time at the wall clock's present reading.
    init() {
        offset = WallTime.milliseconds() - BootTime.milliseconds()
    }

    func now() -> Instant {
        Instant(milliseconds: BootTime.milliseconds() + offset)
    }

    func wallNow() -> Instant {
        Instant(milliseconds: WallTime.milliseconds())
    }

    func sleep(until deadline: Instant) async throws {
        try await BootTime.sleep(
            untilMilliseconds: deadline.milliseconds.subtractingReportingOverflow(offset).partialValue)
    }
}
