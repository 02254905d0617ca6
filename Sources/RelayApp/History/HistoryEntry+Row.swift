internal import GLibRuntime
internal import RelayCore
internal import RelayJournal

/// A recorded event as a row of a table.
extension HistoryEntry {
    /// The heads of the columns.
    static let header = ["ID", "RECEIVED", "KIND", "ACTOR", "OUTCOME", "EFFECTS"]

    /// The characters of an id, and of other texts of strangers, that a column shows.
    private static let longestID = 64
    private static let longestText = 32

    /// The columns.
    var row: [String] {
        [
            cell(\.id, Self.longestID) ?? "(damaged)", LocalTime.shown(receivedAt),
            cell(\.kind, Self.longestText) ?? "-",
            cell(\.actor, Self.longestText) ?? "-", outcomes, effects.map(\.place).joined(separator: "; "),
        ]
    }

    /// What its effects came to, each word once.
    private var outcomes: String {
        let words = HistoryOutcome.allCases.filter { outcome in effects.contains { $0.outcome == outcome } }
        return words.isEmpty ? "-" : words.map(\.rawValue).joined(separator: ", ")
    }

    private func cell(_ field: KeyPath<EventRecord, TextRange>, _ longest: Int) -> String? {
        guard let event, let text = event.text(of: event.record[keyPath: field])?.string else { return nil }
        let start = text.prefix(longest)
        return Shown.printable(start.endIndex < text.endIndex ? start + "…" : String(start))
    }
}

extension EffectStory {
    /// The rule and the sink, as far as there are any, with the reason of a receipt.
    var place: String {
        let names = [rule, sink == "-" ? "" : sink].filter { !$0.isEmpty }.joined(separator: " -> ")
        var reason: String?
        if case .receipt(let receipt) = fate { reason = receipt.rawValue }
        if case .outboxFull = fate { reason = "outbox full" }
        return Shown.printable([names, reason ?? ""].filter { !$0.isEmpty }.joined(separator: ": "))
    }
}
