package import RelayCore

/// All of a ledger, as a disk keeps it: the rows of every table, in any order.
package struct LedgerImage: Sendable {
    /// The plan that was in force; nil if none ever was.
    package var plan: PlanRow?
    /// The keys of limits.
    package var limits: [LimitRow] = []
    /// The keys of repeats.
    package var repeats: [RepeatRow] = []
    /// The open groups.
    package var groups: [GroupRow] = []
    /// The open briefings.
    package var briefings: [BriefingRow] = []
    /// The events that open groups and briefings list.
    package var items: [ItemRow] = []
    /// The silences.
    package var silences = SilenceRows()
    /// The receipts so far.
    package var receipts: [ReceiptCount] = []
    /// The counters of the sinks.
    package var sinks: [SinkRow] = []
    /// The totals.
    package var totals = LedgerTotals()

    /// Creates the image of an empty ledger.
    package init() {}
}
