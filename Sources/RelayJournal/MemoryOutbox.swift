internal import RelayCore

/// The deliveries of all sinks, in memory: a share for each.
struct MemoryOutbox: DeliveryStore {
    private let limits: OutboxShare.Limits
    /// The shares by the names of their sinks.
    var shares: [String: OutboxShare] = [:]
    /// The sinks for which something was stored, and whose bells have not rung yet.
    private var stored: Set<String> = []

    /// Creates an empty outbox, in which every sink has a share of this size.
    init(limits: OutboxShare.Limits) {
        self.limits = limits
    }

    func holds(_ key: String, sink: String) -> Bool {
        shares[sink]?.holds(key) ?? false
    }

    mutating func store(
        _ delivery: Delivery, serial: UInt64, at now: Instant
    ) throws(JournalFailure) -> Bool {
        if holds(delivery.key, sink: delivery.sink) { throw .conflictingKey(delivery.key) }
        let sink = delivery.sink
        let acceptance = shares[sink, default: OutboxShare(limits: limits)].store(delivery, serial: serial, at: now)
        guard acceptance == .stored else { return false }
        if stored.isEmpty || !stored.contains(sink) { stored.insert(sink) }
        return true
    }

    /// Takes the names of the sinks for which something was stored.
    mutating func takeStored() -> Set<String> {
        defer { stored.removeAll(keepingCapacity: true) }
        return stored
    }
}
