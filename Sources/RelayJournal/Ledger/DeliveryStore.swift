package import RelayCore

/// Where a ledger puts the deliveries it makes: the outbox of its journal.
package protocol DeliveryStore {
    /// Whether a delivery with this key is held for `sink`.
    func holds(_ key: String, sink: String) -> Bool
    /// Stores a delivery under a serial higher than all before; false if the share of its sink is full, which makes
    /// its effects dead.
    ///
    /// - Throws: `JournalFailure.conflictingKey` if another delivery has the key.
    mutating func store(_ delivery: Delivery, serial: UInt64, at now: Instant) throws(JournalFailure) -> Bool
}
