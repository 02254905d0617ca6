internal import GLibRuntime
internal import RelayCore

/// The receipts of the fast path by rule, sink and reason, over all rules files since the start.
@MainLoop
final class ReceiptTable {
    private struct Key: Hashable {
        var rule: String
        var sink: String
        var receipt: Receipt
    }

    private var counts: [Key: Int] = [:]

    /// The most entries; what comes after counts under the rule `others`, so that no number of reloads fills the memory.
    private static let most = 20_000

    /// Adds a count.
    func add(_ added: ReceiptCount) {
        var key = Key(rule: added.rule, sink: added.sink, receipt: added.receipt)
        if counts[key] == nil, counts.count >= Self.most {
            key = Key(rule: "others", sink: "-", receipt: added.receipt)
        }
        counts[key, default: 0] += added.count
    }

    /// Adds counts.
    func add(_ added: [ReceiptCount]) {
        for count in added { add(count) }
    }

    /// All counts, in the order of their names.
    var all: [ReceiptCount] {
        counts.map { ReceiptCount(rule: $0.rule, sink: $0.sink, receipt: $0.receipt, count: $1) }
            .sorted { ($0.rule, $0.sink, $0.receipt.rawValue) < ($1.rule, $1.sink, $1.receipt.rawValue) }
    }
}
