/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
///
/// Two clocks produce it: *relay time* (the wall clock at start carried forward by `CLOCK_BOOTTIME`) for windows,
/// limits, retries and leases, and the wall clock for what people see. Nothing below the outermost layer reads
/// either; every method that decides takes `now`.
package struct Instant: Sendable, Hashable, Comparable, BitwiseCopyable {
    /// Milliseconds since the epoch; negative before it.
    package var milliseconds: Int64

    /// Creates the instant that lies `milliseconds` after the epoch.
    @inlinable package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The instant that no other one is after.
    package static let distantFuture = Instant(milliseconds: .max)

    @inlinable package static func < (left: Instant, right: Instant) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// Returns the instant `duration` later, clamped to the representable range.
    package static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.milliseconds.addingReportingOverflow(duration.wholeMilliseconds)
        return Instant(milliseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// Returns the time from `earlier` to `later`, negative if they are the other way round.
    package static func - (later: Instant, earlier: Instant) -> Duration {
        let (difference, overflow) = later.milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return .milliseconds(overflow ? (later > earlier ? .max : .min) : difference)
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded up so that a wait is never cut short, and clamped.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        let rest =
            attoseconds > 0
            ? (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000 : attoseconds / 1_000_000_000_000_000
        let (sum, tooLarge) = scaled.addingReportingOverflow(rest)
        return tooLarge ? (seconds < 0 ? .min : .max) : sum
    }
}
