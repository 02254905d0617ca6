/// The time of a relay, and waiting for it.
///
/// The real one lives in RelayApp; tests have one that they advance.
package protocol RelayClock: Sendable {
    /// Relay time: never goes back, counts suspend.
    func now() -> Instant
    /// The wall clock, for what people see and for times of day.
    func wallNow() -> Instant
    /// Returns when relay time reaches `deadline`.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    func sleep(until deadline: Instant) async throws
}
