internal import RelayCore

/// What a rules file has, by name, so that two files can be compared.
struct RulesOutline: Sendable, Equatable {
    /// A part of the file whose entries have names.
    enum Section: String, Sendable, CaseIterable {
        case streams, sinks, lists, times, rules
    }

    /// A named entry.
    struct Entry: Sendable, Equatable {
        /// The name.
        var name: String
        /// What it says, see `fingerprint`.
        var fingerprint: [UInt8]
    }

    /// The entries of each section, in the order of the file.
    private(set) var sections: [Section: [Entry]] = [:]

    /// Outlines a file that was read without a problem.
    init(_ root: ConfigurationNode) {
        guard case .object(let members) = root.value else { return }
        for section in Section.allCases {
            guard let node = members.first(where: { $0.key == section.rawValue })?.value else { continue }
            sections[section] = section == .rules ? Self.rules(node) : Self.members(node)
        }
    }

    private static func members(_ node: ConfigurationNode) -> [Entry] {
        guard case .object(let members) = node.value else { return [] }
        return members.filter { !ObjectReader.isFree($0.key) }.map {
            Entry(name: $0.key, fingerprint: $0.value.fingerprint())
        }
    }

    private static func rules(_ node: ConfigurationNode) -> [Entry] {
        node.list.map { rule in
            var name = ""
            if case .object(let members) = rule.value,
                case .string(let text)? = members.first(where: { $0.key == "name" })?.value.value
            {
                name = text
            }
            return Entry(name: name, fingerprint: rule.fingerprint())
        }
    }

    /// Returns what `newer` has otherwise, a field for each section that differs: `rules="added a; changed b, c"`.
    func differences(to newer: RulesOutline) -> [(name: String, value: String)] {
        Section.allCases.compactMap { section in
            let text = Self.difference(sections[section] ?? [], newer.sections[section] ?? [])
            return text.isEmpty ? nil : (section.rawValue, text)
        }
    }

    private static func difference(_ old: [Entry], _ new: [Entry]) -> String {
        let before = Dictionary(old.map { ($0.name, $0.fingerprint) }) { first, _ in first }
        let after = Dictionary(new.map { ($0.name, $0.fingerprint) }) { first, _ in first }
        let added = new.filter { before[$0.name] == nil }.map(\.name)
        let removed = old.filter { after[$0.name] == nil }.map(\.name)
        let changed = new.filter { before[$0.name] != nil && before[$0.name] != $0.fingerprint }.map(\.name)
        var parts = [("added", added), ("changed", changed), ("removed", removed)].compactMap { word, names in
            names.isEmpty ? nil : "\(word) \(shown(names))"
        }
        let kept = old.map(\.name).filter { after[$0] != nil }
        if kept != new.map(\.name).filter({ before[$0] != nil }) { parts.append("in another order") }
        return parts.joined(separator: "; ")
    }

    /// The first names, and how many more there are.
    private static func shown(_ names: [String]) -> String {
        let first = names.prefix(5).joined(separator: ", ")
        return names.count > 5 ? "\(first) and \(names.count - 5) more" : first
    }
}
