import RelayCore
import RelayJournal

/// A disk of a test: tables of rows that only ever see the changes of a ledger.
struct LedgerDisk: Equatable {
    private struct ReceiptKey: Hashable {
        var rule: String
        var sink: String
        var receipt: Receipt
    }

    private var plan: PlanRow?
    private var limits: [EffectKey: LimitRow] = [:]
    private var repeats: [EffectKey: RepeatRow] = [:]
    private(set) var groups: [UInt64: GroupRow] = [:]
    private(set) var briefings: [UInt64: BriefingRow] = [:]
    private var items: [UInt64: [ItemRow]] = [:]
    private var silences = SilenceRows()
    private var receipts: [ReceiptKey: Int] = [:]
    private var sinks: [String: SinkCounters] = [:]
    private var totals = LedgerTotals()

    /// Creates an empty disk.
    init() {}

    /// Creates a disk that has an image.
    init(_ image: LedgerImage) {
        var changes = LedgerChanges()
        changes.plan = image.plan
        changes.limits.stored = image.limits
        changes.repeats.stored = image.repeats
        changes.groups.stored = image.groups
        changes.briefings.stored = image.briefings
        changes.items = image.items
        changes.silences = image.silences
        changes.receipts = image.receipts
        changes.sinks = image.sinks
        changes.totals = image.totals
        write(changes)
    }

    /// Writes changes; returns whether every item came to the end of its list, and belongs to something open.
    @discardableResult
    mutating func write(_ changes: LedgerChanges) -> Bool {
        plan = changes.plan ?? plan
        write(changes.limits, to: &limits)
        write(changes.repeats, to: &repeats)
        write(changes.groups, to: &groups)
        write(changes.briefings, to: &briefings)
        for serial in changes.groups.removed + changes.briefings.removed { items[serial] = nil }
        var areInOrder = true
        for item in changes.items {
            if item.place != items[item.serial, default: []].count { areInOrder = false }
            if groups[item.serial] == nil, briefings[item.serial] == nil { areInOrder = false }
            items[item.serial, default: []].append(item)
        }
        silences = changes.silences ?? silences
        for row in changes.receipts {
            receipts[ReceiptKey(rule: row.rule, sink: row.sink, receipt: row.receipt)] = row.count
        }
        for row in changes.sinks { sinks[row.sink] = row.counters }
        totals = changes.totals ?? totals
        return areInOrder
    }

    private func write<Row>(_ changes: RowChanges<Row>, to table: inout [Row.ID: Row]) {
        for id in changes.removed { table[id] = nil }
        for row in changes.stored { table[row.id] = row }
    }

    /// All that was written, in an order that a disk may give it.
    var image: LedgerImage {
        var image = LedgerImage()
        image.plan = plan
        image.limits = Array(limits.values)
        image.repeats = Array(repeats.values)
        image.groups = Array(groups.values)
        image.briefings = Array(briefings.values)
        image.items = items.values.flatMap { $0.reversed() }
        image.silences = silences
        image.receipts = receipts.map {
            ReceiptCount(rule: $0.rule, sink: $0.sink, receipt: $0.receipt, count: $1)
        }
        image.sinks = sinks.map { SinkRow(sink: $0, counters: $1) }
        image.totals = totals
        return image
    }
}
