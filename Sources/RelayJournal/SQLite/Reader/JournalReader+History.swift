internal import GLibRuntime
package import RelayCore

extension JournalReader {
    /// Returns the events of the history that a filter lets through, newest first, at most `limit`.
    ///
    /// `seen` is told again and again how many more events were looked at.
    package func history(
        _ filter: HistoryFilter, limit: Int, seen: (Int) -> Void = { _ in }
    ) throws(Fault) -> [HistoryEntry] {
        let actor = filter.actor.map { TextFolding.fold(Array($0.utf8)) }
        return try reading { () throws(DatabaseFault) in
            var entries: [HistoryEntry] = []
            var before = Int64.max
            while entries.count < limit {
                let rows = try rows(before: before, filter)
                guard let last = rows.last else { break }
                before = Int64(bitPattern: last.number)
                for row in rows where entries.count < limit && row.isLetThrough(by: filter, actor: actor) {
                    let effects = try stories(of: row)
                    guard !filter.asksForEffects || effects.contains(where: filter.covers) else { continue }
                    entries.append(try entry(row, effects))
                }
                seen(rows.count)
            }
            return entries
        }
    }

    /// Returns all events that an id means, over all streams, oldest first, at most `limit`.
    ///
    /// An id is compared as dedupe compares it: a UUID without case.
    package func story(of id: String, limit: Int = 100) throws(Fault) -> [HistoryEntry] {
        let identity = StoredIDs.bytes(of: CollectionOfOne(EventID(text: Array(id.utf8).span.bytes)))
        return try reading { () throws(DatabaseFault) in
            var found: [EventRow] = []
            try database.each("SELECT \(EventRow.columns) FROM event WHERE identity = ? ORDER BY id LIMIT ?") {
                $0.bind(identity)
                $0.bind(limit)
            } _: {
                found.append(EventRow($0))
            }
            var entries: [HistoryEntry] = []
            for row in found { entries.append(try entry(row, stories(of: row))) }
            return entries
        }
    }

    /// Returns the next events in the order of receipt, at most so many, after the one with that number.
    ///
    /// Those that were received before `since` are passed over. Beside the events stands the number to go on after; nil
    /// after the last one.
    package func recorded(
        after number: UInt64, since: Instant? = nil, limit: Int = 500
    ) throws(Fault) -> (events: [RecordedEvent], next: UInt64?) {
        try reading { () throws(DatabaseFault) in
            let sql = """
                SELECT event.id, event.received_at, content.event, event.effects FROM event JOIN content USING(id)
                WHERE event.id > ? ORDER BY event.id LIMIT ?
                """
            var events: [RecordedEvent] = []
            var next: UInt64?
            try database.each(sql) {
                $0.bind(number)
                $0.bind(limit)
            } _: { row in
                next = row.unsigned(0)
                let receivedAt = Instant(milliseconds: row.int(1))
                guard since.map({ receivedAt >= $0 }) ?? true else { return }
                guard let event = try? RowReader.decode(Event.self, row.bytes(2)) else { return }
                let effects = (try? RowReader.decode(RecordedEffects.self, row.bytes(3)))?.effects ?? []
                events.append(
                    RecordedEvent(number: row.unsigned(0), receivedAt: receivedAt, event: event, effects: effects))
            }
            return (events, next)
        }
    }

    /// The numbers of the first and the last event that the history holds of those received since; nil if it has none.
    package func recordedNumbers(since: Instant? = nil) throws(Fault) -> (first: UInt64, last: UInt64)? {
        try reading { () throws(DatabaseFault) in
            let sql = "SELECT min(id), max(id) FROM event WHERE received_at >= ?"
            return try database.first(sql) {
                $0.bind(since?.milliseconds ?? .min)
            } _: {
                $0.isNull(0) ? nil : ($0.unsigned(0), $0.unsigned(1))
            } ?? nil
        }
    }

    /// How many events the history holds that were received since.
    package func recordedCount(since: Instant? = nil) throws(Fault) -> Int {
        try reading { () throws(DatabaseFault) in
            let sql = "SELECT count(*) FROM event WHERE received_at >= ?"
            return Int(try database.number(sql) { $0.bind(since?.milliseconds ?? .min) } ?? 0)
        }
    }

    /// How many events there were since, in whole hours, of which the history records nothing.
    package func unrecordedCount(since: Instant? = nil) throws(Fault) -> Int {
        try reading { () throws(DatabaseFault) in
            let sql = "SELECT sum(count) FROM unrecorded WHERE hour >= ?"
            return Int(try database.number(sql) { $0.bind(since?.hour ?? .min) } ?? 0)
        }
    }

    // MARK: Rows

    private func rows(before number: Int64, _ filter: HistoryFilter) throws(DatabaseFault) -> [EventRow] {
        let sql = """
            SELECT \(EventRow.columns) FROM event WHERE id < ? AND received_at >= ? AND received_at < ?
            ORDER BY id DESC LIMIT ?
            """
        var rows: [EventRow] = []
        try database.each(sql) {
            $0.bind(number)
            $0.bind(filter.since?.milliseconds ?? .min)
            $0.bind(filter.until?.milliseconds ?? .max)
            $0.bind(Self.step)
        } _: {
            rows.append(EventRow($0))
        }
        return rows
    }

    private func stories(of row: EventRow) throws(DatabaseFault) -> [EffectStory] {
        var effects: [EffectStory] = []
        for effect in row.effects { effects.append(try story(of: effect)) }
        return effects
    }

    private func entry(_ row: EventRow, _ effects: [EffectStory]) throws(DatabaseFault) -> HistoryEntry {
        let bytes = try database.first("SELECT event FROM content WHERE id = ?") {
            $0.bind(row.number)
        } _: {
            $0.bytes(0)
        }
        return HistoryEntry(
            number: row.number, receivedAt: row.receivedAt,
            event: bytes.flatMap { try? RowReader.decode(Event.self, $0) }, effects: effects)
    }
}

/// A row of `event`.
private struct EventRow {
    static let columns = "id, received_at, stream, kind, actor, effects"

    let number: UInt64
    let receivedAt: Instant
    let stream: String
    let kind: String
    let actor: String?
    let effects: [RecordedEffect]

    init(_ row: Row) {
        number = row.unsigned(0)
        receivedAt = Instant(milliseconds: row.int(1))
        stream = row.text(2)
        kind = row.text(3)
        actor = row.isNull(4) ? nil : row.text(4)
        // Of a damaged row only the columns are told.
        effects = (try? RowReader.decode(RecordedEffects.self, row.bytes(5)))?.effects ?? []
    }

    func isLetThrough(by filter: HistoryFilter, actor wanted: [UInt8]?) -> Bool {
        if let stream = filter.stream, stream != self.stream { return false }
        if let kind = filter.kind, kind != self.kind { return false }
        if filter.asksForEffects, !effects.contains(where: { filter.names($0.rule, $0.sink) }) { return false }
        guard let wanted else { return true }
        return actor.map { TextFolding.fold(Array($0.utf8)) == wanted } ?? false
    }
}
