internal import RelayCore
internal import RelayJournal

/// An event that the history does not hold, and why that may be.
struct AbsentEvent {
    /// The id that was asked for.
    var id: String
    /// The stream that was asked for; nil for any.
    var stream: String?
    /// What the rules as they are now keep; nil if they cannot be read.
    var policy: HistoryPolicy?

    /// Returns the sentences; `others` are events with the id of other streams.
    ///
    /// - Throws: `CommandFault` (1) if the journal cannot be read.
    func fault(
        _ reader: JournalReader, others: [HistoryEntry], _ arguments: ParsedArguments
    ) throws(CommandFault) -> CommandFault {
        let directory = try JournalPlace.directory(arguments)
        let (streams, oldest) = try JournalPlace.told { () throws(JournalReader.Fault) in
            (try reader.streamsThatSaw(id).filter { stream == nil || $0 == stream }, try reader.oldestReceipt())
        }
        let place = stream.map { " of the stream \(Shown.quoted($0))" } ?? ""
        var lines = [
            "chirp-relay: there is no file \(Shown.quoted(id)), and the history in \(directory) holds no event with that "
                + "id\(place)"
        ]
        if let found = others.first?.event?.stream { lines.append("One of the stream \(Shown.quoted(found)) is held.") }
        lines.append(origin(streams) + pruning(oldest))
        lines.append(unrecorded)
        return CommandFault(.failed, lines.map(Shown.printable))
    }

    private func origin(_ streams: [String]) -> String {
        guard !streams.isEmpty else {
            return "It was never received, or too long ago: it is not among the last ids of any stream. "
        }
        let names = streams.map(Shown.quoted).joined(separator: ", ")
        return "It was received (stream \(names)), so it was not recorded, or its record is gone. "
    }

    private func pruning(_ oldest: Instant?) -> String {
        let reach = oldest.map { "goes back to \(ZonedTime().text($0))" } ?? "is empty"
        guard let policy else { return "The history \(reach); \"keep\" and \"max\" of \"history\" bound it." }
        if policy.isOff { return "The history \(reach), and by the rules file nothing is kept (\"keep\": \"0\")." }
        return "The history \(reach); the rules file keeps \(DurationText.format(policy.keep)) "
            + "and \(policy.most / 1_000_000) MB of it (\"keep\", \"max\")."
    }

    private var unrecorded: String {
        if policy?.all == true { return "The rules file has every event recorded now (\"all\": true)." }
        return
            "Events of which nothing touches the journal (lines of standard output, drops, no rule) are not recorded, "
            + "unless the rules file says \"history\": {\"all\": true}; a running relay has the last \(RecentEvents.most) of "
            + "each stream in memory."
    }
}
