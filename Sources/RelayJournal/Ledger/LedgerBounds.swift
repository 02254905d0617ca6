/// How much the tables of a journal may hold.
package struct LedgerBounds: Sendable {
    /// The most open groups; above it new ones of a rule share one group for each sink.
    package var groups: Int
    /// The most limit keys; above it new ones of a rule share one key for each sink.
    package var limitKeys: Int
    /// The most repeat keys; above it the oldest are forgotten.
    package var repeatKeys: Int
    /// The most memory of events that open groups and briefings list, in bytes.
    ///
    /// Above it events are counted and not listed, but for the first one of a group.
    package var gatheredBytes: Int

    /// Creates bounds; the defaults are 100 000 of each, and 256 MB.
    package init(
        groups: Int = 100_000, limitKeys: Int = 100_000, repeatKeys: Int = 100_000, gatheredBytes: Int = 256_000_000
    ) {
        self.groups = groups
        self.limitKeys = limitKeys
        self.repeatKeys = repeatKeys
        self.gatheredBytes = gatheredBytes
    }
}
