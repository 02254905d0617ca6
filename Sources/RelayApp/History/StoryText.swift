internal import RelayCore
internal import RelayJournal

/// A recorded event for people: what it was, and the way of each of its effects.
struct StoryText {
    /// The lines.
    private(set) var lines: [String] = []
    private let times: ZonedTime

    /// The most characters of an event's text that are shown.
    private static let longestText = 200

    /// Writes the lines of an event.
    init(_ entry: HistoryEntry, _ times: ZonedTime) {
        self.times = times
        append(entry)
        if entry.effects.isEmpty { lines.append("  what became of it cannot be read") }
        for effect in entry.effects { append(effect) }
    }

    private mutating func append(_ entry: HistoryEntry) {
        guard let event = entry.event else {
            return lines.append("an event received \(times.text(entry.receivedAt)), whose record is damaged")
        }
        func text(_ range: TextRange) -> String? {
            event.text(of: range).map { text in
                let start = text.string.prefix(Self.longestText)
                return Shown.printable(start.endIndex < text.string.endIndex ? start + "…" : String(start))
            }
        }
        let record = event.record
        var head = text(record.kind) ?? ""
        if let actor = text(record.actor) { head += " by \(actor)" }
        if let post = text(record.post) { head += " on \(post)" }
        if let words = text(record.text) { head += ": \(words)" }
        lines.append("\(head)  (\(text(record.id) ?? ""))")
        lines.append(
            "  of the stream \(Shown.printable(Shown.quoted(event.stream))), created \(times.text(record.createdAt)), "
                + "received \(times.text(entry.receivedAt))")
        if entry.number == 0 { lines.append("  not recorded; the running relay has it in memory, as one of the last") }
    }

    private mutating func append(_ effect: EffectStory) {
        lines.append("  " + Self.head(effect))
        for gathered in effect.gathered { append(gathered, of: effect) }
        if case .delivery(let delivery) = effect.fate { append(delivery) }
    }

    private static func head(_ effect: EffectStory) -> String {
        if case .receipt(.unmatched) = effect.fate { return "no rule matched: unmatched" }
        let sink = effect.sink == "-" ? "" : " -> \(effect.sink)"
        return Shown.printable("\(effect.rule)\(sink): \(sentence(effect.fate, effect.outcome))")
    }

    private static func sentence(_ fate: EffectStory.Fate, _ outcome: HistoryOutcome) -> String {
        switch fate {
        case .passed: "passed to the sink right away, without the journal"
        case .receipt(let receipt): "suppressed: \(receipt.rawValue)"
        case .outboxFull: "dead: the outbox was full"
        case .open: "pending, gathered and not told yet"
        case .forgotten: "what became of it is not in the history any more"
        case .delivery: outcome.rawValue
        }
    }

    private mutating func append(_ gathered: EffectStory.Gathered, of effect: EffectStory) {
        let name = "\(gathered.isBriefing ? "held for briefing" : "gathered in digest") \(gathered.serial)"
        if let closedAt = gathered.closedAt { return lines.append("    \(name), which closed \(times.text(closedAt))") }
        let isOpen = if case .open = effect.fate { true } else { false }
        lines.append("    \(name)" + (isOpen ? ", which is open" : ""))
    }

    private mutating func append(_ story: DeliveryStory) {
        let row = story.row
        for serial in story.folded {
            lines.append("    delivery \(serial) waited so long that it was folded with others into one digest")
        }
        let tells = row.effects > 1 ? ", which tells of \(row.effects) effects" : ""
        lines.append("    delivery \(row.serial)\(tells), accepted \(times.text(row.acceptedAt))")
        lines.append("    " + Shown.printable(state(of: row)))
        lines.append(Shown.printable("    key \(row.key)"))
    }

    private func state(of row: OutboxRow) -> String {
        let attempts = TrialWords.counted(row.attempts, "attempt")
        let error = row.lastError.map { ": \($0)" } ?? ""
        let failed = row.lastError.map { "; the last one failed: \($0)" } ?? ""
        return switch row.state {
        case .due: "to be sent as soon as the sink takes it, after \(attempts)\(failed)"
        case .waiting(let until):
            "to be tried again \(times.text(until)), after \(attempts)\(failed)"
                + (row.isAside ? "; others go past it" : "")
        case .claimed: "being attempted now, \(attempts) with this one\(failed)"
        case .dead(let at): "dead since \(times.text(at)), after \(attempts)\(error)"
        case .ended(.delivered, let at):
            "delivered \(times.text(at)), after \(attempts)"
                + (row.attempts > 1 ? row.lastError.map { "; one had failed: \($0)" } ?? "" : "")
        case .ended(.forgotten, let at): "dead, and its text deleted \(times.text(at)), after \(attempts)\(error)"
        case .ended(.folded, let at): "folded into another \(times.text(at))"
        }
    }
}
