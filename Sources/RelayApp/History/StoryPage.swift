internal import GLibRuntime
internal import RelayCore
internal import RelayJournal
internal import RelayRules
internal import RelaySinks

/// The story of an event as `explain EVENT-ID` prints it, with what the rules as they are now make of it.
struct StoryPage {
    /// The event and what became of it.
    var entry: HistoryEntry
    /// The rules as they are now; nil if they cannot be read.
    var rules: RuleSet?
    /// The file of the rules.
    var file: String

    /// The page for people.
    func lines(style: TextLine.Style) -> [String] {
        let story = StoryText(entry, ZonedTime()).lines
        guard let rules, let event = entry.event else { return story }
        let head = Shown.printable("By the rules as they are now, \(file), it would go like this:")
        return story + ["", head] + TraceText(rules.explain(event, at: entry.receivedAt), style: style).lines
    }

    /// The page for programs: lines of JSON, without newlines.
    var records: [[UInt8]] {
        guard let rules, let event = entry.event else { return [entry.json.line] }
        let head = JSONValue.object([
            ("type", "presentRules"), ("file", .string(file)), ("event", entry.shownNumber),
        ])
        let steps = rules.explain(event, at: entry.receivedAt).steps.map { step in
            var line: [UInt8] = []
            TraceJSON.append(step, to: &line)
            return line.last == UInt8(ascii: "\n") ? line.dropLast() : line
        }
        return [entry.json.line, head.line] + steps
    }

    /// The page as a relay answers with it.
    var answer: JSONValue {
        .object([
            ("lines", .array(lines(style: .plain).map { .string($0) })),
            ("records", .array(records.map { .string(String(decoding: $0, as: UTF8.self)) })),
        ])
    }
}
