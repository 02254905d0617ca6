package import RelayCore

/// What the journal knows of an event that its history does not hold, and of the rules.
extension JournalReader {
    /// Returns the streams that brought an event with this id, as far as the journal remembers ids.
    package func streamsThatSaw(_ id: String) throws(Fault) -> [String] {
        let identity = StoredIDs.bytes(of: CollectionOfOne(EventID(text: Array(id.utf8).span.bytes)))
        return try reading { () throws(DatabaseFault) in
            var streams: [String] = []
            // A match that begins within an id is as rare as two ids with one digest.
            try database.each("SELECT DISTINCT stream FROM seen WHERE instr(ids, ?) > 0 ORDER BY stream") {
                $0.bind(identity)
            } _: {
                streams.append($0.text(0))
            }
            return streams
        }
    }

    /// Returns when the oldest event was received that the history holds; nil if it is empty.
    package func oldestReceipt() throws(Fault) -> Instant? {
        try reading { () throws(DatabaseFault) in
            try database.number("SELECT received_at FROM event ORDER BY id LIMIT 1").map { Instant(milliseconds: $0) }
        }
    }

    /// Returns the names of the rules and the sinks that the last relay had in force; nil if they cannot be read.
    package func namesInForce() throws(Fault) -> (rules: [String], sinks: [String])? {
        try reading { () throws(DatabaseFault) in
            let bytes = try database.first("SELECT value FROM meta WHERE name = 'plan'") { $0.bytes(0) }
            guard let bytes, let plan = try? RowReader.decode(PlanRow.self, bytes) else { return nil }
            return (plan.policies.map(\.rule), plan.sinkNames)
        }
    }
}
