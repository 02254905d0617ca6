internal import RelayCore

/// What changed in a ledger that records its changes, beside the rows of its tables.
struct LedgerNotes: Sendable {
    /// Whether another plan came into force.
    var hasNewPlan = false
    /// Whether silences may have come or gone.
    var hasNewSilences = false
    /// The groups and briefings that closed.
    var closings: [ClosingRow] = []
    /// The totals as they were taken last.
    var totals = LedgerTotals()
}
