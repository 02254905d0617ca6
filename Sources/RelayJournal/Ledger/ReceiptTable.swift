internal import RelayCore

/// The receipts so far, by rule, sink and reason.
struct ReceiptTable: Sendable {
    private struct Key: Hashable {
        let scope: Scope
        let receipt: Receipt
    }

    private var counts: [Key: Int] = [:]
    private var marks: ChangeMarks<Key>

    /// Creates an empty table.
    init(recordsChanges: Bool = false) {
        marks = ChangeMarks(areOn: recordsChanges)
    }

    /// Counts receipts.
    mutating func add(_ receipt: Receipt, _ scope: Scope, count: Int = 1) {
        let key = Key(scope: scope, receipt: receipt)
        marks.mark(key)
        counts[key, default: 0] += count
    }

    /// All counts, in a fixed order.
    var all: [ReceiptCount] {
        counts.keys.map(row(of:))
            .sorted { ($0.rule, $0.sink, $0.receipt.rawValue) < ($1.rule, $1.sink, $1.receipt.rawValue) }
    }

    // MARK: Rows

    /// Takes the counts that changed.
    mutating func takeChanges() -> [ReceiptCount] { marks.take().keys.map(row(of:)) }

    /// Takes up the counts that a disk kept.
    mutating func restore(_ rows: [ReceiptCount]) {
        for row in rows {
            counts[Key(scope: Scope(rule: row.rule, sink: row.sink), receipt: row.receipt)] = row.count.asCount
        }
    }

    private func row(of key: Key) -> ReceiptCount {
        ReceiptCount(rule: key.scope.rule, sink: key.scope.sink, receipt: key.receipt, count: counts[key] ?? 0)
    }
}
