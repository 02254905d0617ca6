package import RelayCore

/// Where a journal keeps the deliveries of its outbox, which the index knows by serial alone.
///
/// They are taken away as the changes of the outbox tell.
package protocol DeliveryShelf {
    /// Puts a new delivery on the shelf.
    mutating func put(_ delivery: Delivery, serial: UInt64) throws(JournalFailure)
    /// Returns a delivery; nil if it is not there, which a damaged file may be the cause of.
    func delivery(_ serial: UInt64) throws(JournalFailure) -> Delivery?
}
