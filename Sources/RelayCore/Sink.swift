/// A place deliveries go.
package protocol Sink: Sendable {
    /// The name in the rules file.
    var name: String { get }
    /// How many attempts may run at the same time; 1 keeps the order.
    var inFlight: Int { get }
    /// Attempts a delivery once and says how it ended. Never throws and never takes longer than the sink's time-out.
    ///
    /// Cancelling the task ends the attempt soon, with `retry`.
    func deliver(_ delivery: Delivery) async -> Outcome
    /// Releases what the sink holds. No attempt runs any more.
    func close() async
}
