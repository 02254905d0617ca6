internal import RelayCore

/// The effects of each sink that ended in a receipt, or are pending in an open digest or briefing.
struct AccountTable: Sendable {
    /// The counters by the names of the sinks.
    private(set) var counters: [String: SinkCounters] = [:]
    private var marks: ChangeMarks<String>

    /// Creates an empty table.
    init(recordsChanges: Bool = false) {
        marks = ChangeMarks(areOn: recordsChanges)
    }

    /// Changes the counters of a sink.
    mutating func modify(_ sink: String, _ change: (inout SinkCounters) -> Void) {
        marks.mark(sink)
        change(&counters[sink, default: SinkCounters()])
    }

    // MARK: Rows

    /// All sinks.
    var rows: [SinkRow] { counters.map { SinkRow(sink: $0, counters: $1) } }

    /// Takes the sinks whose counters changed.
    mutating func takeChanges() -> [SinkRow] {
        marks.take().keys.map { SinkRow(sink: $0, counters: counters[$0] ?? SinkCounters()) }
    }

    /// Takes up the counters that a disk kept.
    mutating func restore(_ rows: [SinkRow]) {
        for row in rows { counters[row.sink] = row.counters.asCounts }
    }
}

extension SinkCounters {
    /// The counters as a disk kept them.
    fileprivate var asCounts: SinkCounters {
        var counts = self
        for counter in [\SinkCounters.effects, \.delivered, \.suppressed, \.pending, \.dead] {
            counts[keyPath: counter] = self[keyPath: counter].asCount
        }
        return counts
    }
}
