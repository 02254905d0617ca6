internal import GLibRuntime
internal import RelayCore

/// Reads the keys of a rule that say how its notices read.
struct WordingReader {
    private static let longestIcon = 1000

    private let zones: ZoneReader
    private let problems: Problems

    /// Creates a reader.
    init(zones: ZoneReader, _ problems: Problems) {
        self.zones = zones
        self.problems = problems
    }

    /// Takes the keys of a rule; the caller knows by `problems` whether they are right.
    func read(_ reader: inout ObjectReader) -> RuleWording {
        var wording = RuleWording()
        wording.title = reader.optional("title").flatMap(template)
        wording.body = reader.optional("body").flatMap(template)
        wording.link = reader.optional("link").flatMap { LinkTemplate.read($0, problems) }
        if let choice = reader.optional("urgency").flatMap(urgency) { wording.urgency = choice }
        wording.icon = reader.optional("icon").flatMap(icon) ?? ""
        let zone = reader.optional("zone")
        wording.zone = zone.flatMap { zones.read($0, problems) }
        if zone == nil, wording.tellsTimes { _ = zones.system(for: reader.node, problems) }
        return wording
    }

    private func template(_ node: ConfigurationNode) -> Template? {
        Template.read(node, allowed: Wording.placeholders, problems)
    }

    private func urgency(_ node: ConfigurationNode) -> RuleWording.UrgencyChoice? {
        if case .string(let text) = node.value, text.utf8.contains(UInt8(ascii: "{")) {
            guard let template = template(node) else { return nil }
            if template.hasPlaceholders { return .template(template) }
        }
        return (node.choice(problems, of: "urgency") as Urgency?).map { .fixed($0) }
    }

    private func icon(_ node: ConfigurationNode) -> String? {
        guard let text = node.string(problems, expected: "the name or the path of an icon") else { return nil }
        guard (1...Self.longestIcon).contains(text.unicodeScalars.count),
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            problems.add(at: node, "an icon has 1 to \(Self.longestIcon) characters and no control characters")
            return nil
        }
        // A stranger would choose the file that is opened.
        if text.utf8.contains(UInt8(ascii: "{")) { problems.add(at: node, "an icon takes no placeholders") }
        return text
    }
}
