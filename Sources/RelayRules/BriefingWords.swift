internal import RelayCore

/// The words of a briefing: how many of what, and a line for each rule and kind.
struct BriefingWords {
    /// The events of one rule and kind.
    private struct Part {
        var rule: Rule?
        var gathering: Gathering
    }

    private let all: GatheringWords
    private let gathering: Gathering
    private let parts: [Part]
    /// The name of the rule, if all events are of one.
    let onlyRule: String?
    /// The highest urgency of the rules; one that depends on the event counts as normal.
    let urgency: Urgency

    /// The most lines of the body, as popups show.
    private static let mostLines = 6

    /// Sums up what was held; `places` has the rules by name.
    init(_ gathering: Gathering, rules: [Rule], places: [String: Int]) {
        self.gathering = gathering
        all = GatheringWords(gathering, of: nil)
        let names = Set(gathering.items.map(\.rule))
        onlyRule = names.count == 1 ? names.first : nil
        urgency = Self.urgency(names.map { name in places[name].map { rules[$0].wording.urgency } })
        var found: [Key: Int] = [:]
        var parts: [(order: Int, part: Part)] = []
        for item in gathering.items {
            let key = Key(rule: item.rule, kind: item.event.text(of: item.event.record.kind) ?? UntrustedText())
            let place = found[key] ?? parts.count
            if place == parts.count {
                let number = places[item.rule]
                found[key] = place
                parts.append((number ?? .max, Part(rule: number.map { rules[$0] }, gathering: Gathering())))
            }
            parts[place].part.gathering.add(item)
        }
        // In the order of the file, where people put what matters first; within a rule as they came.
        self.parts = parts.enumerated().sorted { ($0.element.order, $0.offset) < ($1.element.order, $1.offset) }
            .map(\.element.part)
    }

    private struct Key: Hashable {
        var rule: String
        var kind: UntrustedText
    }

    private static func urgency(_ choices: [RuleWording.UrgencyChoice?]) -> Urgency {
        let order = Urgency.allCases
        let places = choices.map { choice in
            guard case .fixed(let urgency)? = choice else { return order.firstIndex(of: .normal) ?? 0 }
            return order.firstIndex(of: urgency) ?? 0
        }
        return places.max().map { order[$0] } ?? .normal
    }

    /// Appends what follows the name of the time: `312 likes, 4 comments and 2 new followers`.
    func appendTitle(to bytes: inout [UInt8]) {
        all.appendCounts(to: &bytes)
    }

    /// Appends the body.
    func appendBody(to bytes: inout [UInt8]) {
        let told = parts.prefix(parts.count > Self.mostLines ? Self.mostLines - 1 : Self.mostLines)
        var lines = told.map(Self.line)
        let rest = gathering.count - told.reduce(0) { $0 + $1.gathering.count }
        if rest > 0 { lines.append("and \(rest) more") }
        bytes.append(contentsOf: lines.joined(separator: "\n").utf8)
    }

    private static func line(_ part: Part) -> String {
        let words = GatheringWords(part.gathering, of: part.rule)
        var bytes: [UInt8] = []
        if let template = part.rule?.wording.title { words.append(template, as: .line, to: &bytes) }
        if bytes.isEmpty { words.appendTitle(to: &bytes) }
        if part.gathering.count == 1, let event = part.gathering.items.first?.event {
            let before = bytes.count
            bytes.append(contentsOf: ": ".utf8)
            Wording.append(event.record.text, of: event, as: .line, to: &bytes)
            if bytes.count == before + 2 { bytes.removeLast(2) }
        }
        return GatheringWords.line(bytes)
    }
}
