/// A place deliveries go.
package protocol Sink: Sendable {
    /// The name in the rules file.
    var name: String { get }
    /// How many attempts may run at the same time; 1 keeps the order.
    var inFlight: Int { get }
    /// When deliveries that wait for it are folded into digests; nil for never.
    var backlog: BacklogPolicy? { get }
    /// Attempts a delivery once and says how it ended. Never throws and never takes longer than the sink's time-out.
    ///
    /// Cancelling the task ends the attempt soon, with `retry`.
    func deliver(_ delivery: Delivery) async -> Outcome
    /// Returns when an attempt makes sense, or when the task is cancelled: a sink whose service is known to be absent
    /// waits here for it, so that no attempt is spent.
    func awaitReady() async
    /// Releases what the sink holds. No attempt runs any more.
    func close() async
}

extension Sink {
    /// Each delivery goes alone.
    package var backlog: BacklogPolicy? { nil }

    /// Returns at once: most sinks find out by trying.
    package func awaitReady() async {}
}
