/// The delay before a next try, as a total function of the number of tries.
///
/// Doubles from `base` to `cap`, and draws uniformly from the share `floor ..< 1` of that.
package struct Backoff: Sendable, Equatable {
    /// The longest delay after the first failure.
    package var base: Duration
    /// The longest delay after any failure.
    package var cap: Duration
    /// The smallest share of the delay that jitter may leave: ½ for a stream, 0 (full jitter) for deliveries.
    package var floor: Double

    /// Creates a policy.
    package init(base: Duration, cap: Duration, floor: Double) {
        self.base = base
        self.cap = cap
        self.floor = floor
    }

    /// Returns the delay after `failures` failures in a row, of which the first counts as 0.
    ///
    /// Any number is allowed: a negative one counts as 0, and nothing overflows.
    package func delay(
        afterFailures failures: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let exponent = min(max(failures, 0), 62)
        let baseMilliseconds = Double(max(base.wholeMilliseconds, 0))
        let capMilliseconds = Double(max(cap.wholeMilliseconds, 0))
        let longest = min(capMilliseconds, baseMilliseconds * Double(sign: .plus, exponent: exponent, significand: 1))
        let share = Double.random(in: floor...1, using: &generator)
        return .milliseconds(Int64(min(longest * share, 9e15)))
    }
}
