internal import RelayCore

/// The receipts so far, by rule, sink and reason.
struct ReceiptTable: Sendable {
    private struct Key: Hashable {
        let scope: Scope
        let receipt: Receipt
    }

    private var counts: [Key: Int] = [:]

    /// Counts receipts.
    mutating func add(_ receipt: Receipt, _ scope: Scope, count: Int = 1) {
        counts[Key(scope: scope, receipt: receipt), default: 0] += count
    }

    /// All counts, in a fixed order.
    var all: [ReceiptCount] {
        counts.map { ReceiptCount(rule: $0.scope.rule, sink: $0.scope.sink, receipt: $0.receipt, count: $1) }
            .sorted { ($0.rule, $0.sink, $0.receipt.rawValue) < ($1.rule, $1.sink, $1.receipt.rawValue) }
    }
}
