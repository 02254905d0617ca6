internal import RelayCore

/// A briefing of what a time holds for a sink.
struct OpenBriefing: Sendable {
    /// The name of the sink.
    let sink: String
    /// The name of the time.
    let time: String
    /// Its number in the order of opening, never used again.
    let serial: UInt64
    /// What was held.
    var gathering = Gathering()

    /// The briefing without what it lists.
    var row: BriefingRow { BriefingRow(serial: serial, sink: sink, time: time, tally: gathering.tally) }
}

/// The open briefings, one for each sink and time.
struct BriefingTable: Sendable {
    private struct Key: Hashable {
        let sink: String
        let time: String
    }

    private var briefings: [Key: OpenBriefing] = [:]
    private var marks: ChangeMarks<UInt64>
    /// The memory that the events of all briefings take.
    private(set) var byteCount = 0

    /// Creates an empty table.
    init(recordsChanges: Bool = false) {
        marks = ChangeMarks(areOn: recordsChanges)
    }

    /// Whether nothing is held.
    var isEmpty: Bool { briefings.isEmpty }

    /// The open briefings in the order of opening.
    var all: [OpenBriefing] { briefings.values.sorted { $0.serial < $1.serial } }

    /// The names of the times that hold something.
    var times: Set<String> { Set(briefings.keys.map(\.time)) }

    /// Returns the serial of an open briefing; nil if none is open.
    func serial(sink: String, time: String) -> UInt64? { briefings[Key(sink: sink, time: time)]?.serial }

    /// Opens an empty briefing.
    mutating func open(sink: String, time: String, serial: UInt64) {
        marks.mark(serial)
        briefings[Key(sink: sink, time: time)] = OpenBriefing(sink: sink, time: time, serial: serial)
    }

    /// Changes what an open briefing gathered.
    mutating func modify(sink: String, time: String, _ change: (inout Gathering) -> Void) {
        let key = Key(sink: sink, time: time)
        guard let briefing = briefings[key] else { return }
        let (before, listed) = (briefing.gathering.byteCount, briefing.gathering.items.count)
        marks.mark(briefing.serial, since: listed)
        change(&briefings[key, default: OpenBriefing(sink: sink, time: time, serial: 0)].gathering)
        byteCount += (briefings[key]?.gathering.byteCount ?? 0) - before
    }

    /// Closes a briefing.
    mutating func remove(_ briefing: OpenBriefing) {
        guard let removed = briefings.removeValue(forKey: Key(sink: briefing.sink, time: briefing.time)) else { return }
        marks.mark(briefing.serial)
        byteCount -= removed.gathering.byteCount
    }
}

// MARK: Rows

extension BriefingTable {
    /// All open briefings with what they list.
    var rows: (briefings: [BriefingRow], items: [ItemRow]) {
        (all.map(\.row), all.flatMap { $0.gathering.rows(from: 0, in: $0.serial) })
    }

    /// Takes the briefings that changed, with what they list since then.
    mutating func takeChanges(_ changes: inout LedgerChanges) {
        if marks.isEmpty { return }
        let open = Dictionary(briefings.values.map { ($0.serial, $0) }) { first, _ in first }
        for (serial, count) in marks.take() {
            guard let briefing = open[serial] else {
                changes.briefings.removed.append(serial)
                continue
            }
            changes.briefings.stored.append(briefing.row)
            changes.items += briefing.gathering.rows(from: count, in: serial)
        }
    }

    /// Takes up the briefings that a disk kept.
    mutating func restore(_ rows: [BriefingRow], items: [UInt64: [ItemRow]]) {
        for row in rows {
            let gathering = Gathering(items[row.serial] ?? [], tally: row.tally)
            byteCount += gathering.byteCount
            briefings[Key(sink: row.sink, time: row.time)] = OpenBriefing(
                sink: row.sink, time: row.time, serial: row.serial, gathering: gathering)
        }
    }
}
