package import RelayCore

/// What became otherwise in one table, each key once.
package struct RowChanges<Row: Identifiable & Sendable>: Sendable where Row.ID: Sendable {
    /// The rows that are new or otherwise, as they are now.
    package var stored: [Row] = []
    /// The keys of the rows that are gone, of which some may never have been stored.
    package var removed: [Row.ID] = []

    /// Creates changes of nothing.
    package init() {}

    /// Creates the changes of keys; `row` finds the row of one that is still there.
    init(of keys: some Sequence<Row.ID>, _ row: (Row.ID) -> Row?) {
        for key in keys {
            if let row = row(key) { stored.append(row) } else { removed.append(key) }
        }
    }

    /// Whether nothing changed.
    package var isEmpty: Bool { stored.isEmpty && removed.isEmpty }
}

/// What became otherwise in a ledger since the changes were last taken: what a disk has to write to be as the ledger.
package struct LedgerChanges: Sendable {
    /// The plan in force, if there is another.
    package var plan: PlanRow?
    /// The keys of limits.
    package var limits = RowChanges<LimitRow>()
    /// The keys of repeats.
    package var repeats = RowChanges<RepeatRow>()
    /// The open groups; with one that is gone go its items.
    package var groups = RowChanges<GroupRow>()
    /// The open briefings; with one that is gone go its items.
    package var briefings = RowChanges<BriefingRow>()
    /// The events that open groups and briefings list since then, in the order of their places.
    package var items: [ItemRow] = []
    /// All silences, if any came or went.
    package var silences: SilenceRows?
    /// The receipts that were counted, with their counts so far.
    package var receipts: [ReceiptCount] = []
    /// The sinks whose counters changed.
    package var sinks: [SinkRow] = []
    /// The totals, if any changed.
    package var totals: LedgerTotals?
    /// The groups and briefings that closed, in the order in which they did; what was empty is not told.
    package var closings: [ClosingRow] = []

    /// Creates changes of nothing.
    package init() {}

    /// Whether nothing changed.
    package var isEmpty: Bool {
        plan == nil && limits.isEmpty && repeats.isEmpty && groups.isEmpty && briefings.isEmpty && items.isEmpty
            && silences == nil && receipts.isEmpty && sinks.isEmpty && totals == nil && closings.isEmpty
    }
}

/// What became of a group or a briefing that closed, for the history.
package struct ClosingRow: Sendable, Equatable {
    /// What can become of one.
    package enum Fate: Sendable, Equatable {
        /// Its notice is the delivery with this serial.
        case delivery(UInt64)
        /// The group joined the briefing with this serial.
        case briefing(UInt64)
        /// All of its effects ended in receipts.
        case receipt(Receipt)
        /// The share of its sink was full: all of its effects are dead.
        case outboxFull
    }

    /// The serial of the group or briefing.
    package var serial: UInt64
    /// What became of it.
    package var fate: Fate

    /// Creates a row.
    package init(serial: UInt64, fate: Fate) {
        self.serial = serial
        self.fate = fate
    }
}
