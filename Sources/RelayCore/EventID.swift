/// The identity of an event within its stream, as 16 bytes that are equal when the ids are.
///
/// A UUID in any case gives its 16 bytes; any other text the first 16 bytes of its SHA-256.
package struct EventID: Sendable, Hashable, BitwiseCopyable {
    /// The first eight bytes, in memory order.
    package var high: UInt64
    /// The last eight bytes, in memory order.
    package var low: UInt64

    /// Creates an id from its two halves.
    @inlinable package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
