internal import GLibRuntime
internal import RelayCore

/// Reads the values of conditions: literals, globs, `/regular expressions/` and `@lists`.
struct ValueReader {
    /// The longest value, in Unicode scalars: it bounds the time a glob takes.
    static let longestValue = 1000
    /// The kinds that the Chirp API sends, of which another spelling is most likely a slip.
    private static let usualKinds = ["like", "comment", "follow"]

    private let lists: [String: [String]]
    private let streamNames: [String]
    private let problems: Problems
    /// The names of the lists that were read of.
    private(set) var usedLists: Set<String> = []
    private var listSets: [ListUse: (set: ValueSet, written: WrittenValues)] = [:]

    /// A list as the only value of a condition; its set is shared by all that use it so.
    private struct ListUse: Hashable {
        var list: String
        var comparison: Comparison
    }

    /// Creates a reader that knows the file's lists and streams.
    init(lists: [String: [String]], streamNames: [String], _ problems: Problems) {
        self.lists = lists
        self.streamNames = streamNames
        self.problems = problems
    }

    /// Reads one value or an array of values of `field`, or of a value of the event as it came; returns nil after a
    /// problem.
    mutating func read(_ node: ConfigurationNode, _ field: Field?) -> (set: ValueSet, written: WrittenValues)? {
        let nodes = node.list
        if nodes.isEmpty {
            problems.add(at: node, "an empty array matches nothing")
            return nil
        }
        if nodes.count == 1, case .string(let text) = nodes[0].value, text.hasPrefix("@") {
            return listSet(nodes[0], text, field?.comparison ?? .folded)
        }
        let errorsBefore = problems.errorCount
        var written = WrittenValues()
        var patterns: [TextPattern] = []
        for node in nodes {
            guard let text = Self.text(of: node, problems) else { continue }
            if text.hasPrefix("@") {
                written.add(list(node, text) ?? [], of: text)
            } else if text.hasPrefix("/") {
                written.patterns.append(text)
                if let pattern = pattern(node, text) { patterns.append(pattern) }
            } else if Glob.isGlob(text) {
                written.globs.append(text)
            } else {
                if let field { check(node, literal: text, field) }
                written.literals.append(text)
            }
        }
        guard problems.errorCount == errorsBefore else { return nil }
        let set = ValueSet(
            literals: written.literals, globs: written.globs, patterns: patterns, field?.comparison ?? .folded)
        return (set, written)
    }

    /// Returns the text of a value, or reports what is wrong with it.
    static func text(of node: ConfigurationNode, _ problems: Problems) -> String? {
        guard let text = node.string(problems) else { return nil }
        if text.isEmpty {
            problems.add(at: node, "must not be empty")
            return nil
        }
        if text.unicodeScalars.count > longestValue {
            problems.add(at: node, "longer than \(longestValue) characters")
            return nil
        }
        return text
    }

    /// Returns the set of a list that is already known to be there, to compare actors with.
    mutating func actors(inList name: String) -> ValueSet? {
        let node = ConfigurationNode(.null, at: Position(line: 1, column: 1), path: "")
        return lists[name] == nil ? nil : listSet(node, "@\(name)", .folded)?.set
    }

    private mutating func listSet(
        _ node: ConfigurationNode, _ text: String, _ comparison: Comparison
    ) -> (set: ValueSet, written: WrittenValues)? {
        guard let entries = list(node, text) else { return nil }
        let use = ListUse(list: text, comparison: comparison)
        if let known = listSets[use] { return known }
        var written = WrittenValues()
        written.add(entries, of: text)
        let set = ValueSet(literals: written.literals, globs: written.globs, patterns: [], comparison)
        listSets[use] = (set, written)
        return (set, written)
    }

    private mutating func list(_ node: ConfigurationNode, _ text: String) -> [String]? {
        let name = String(text.dropFirst())
        usedLists.insert(name)
        if let entries = lists[name] { return entries }
        let suggestion = NearestName.suggestion(for: text, among: lists.keys.map { "@\($0)" })
        problems.add(at: node, "there is no list \(Shown.quoted(text))\(suggestion)")
        return nil
    }

    private func pattern(_ node: ConfigurationNode, _ text: String) -> TextPattern? {
        guard text.utf8.count > 2, text.hasSuffix("/") else {
            problems.add(at: node, "a regular expression stands between two \"/\", as in \"/^a+$/\"")
            return nil
        }
        do {
            return try TextPattern(String(text.dropFirst().dropLast()))
        } catch {
            problems.add(at: node, "the regular expression cannot be used: \(error)")
            return nil
        }
    }

    private func check(_ node: ConfigurationNode, literal text: String, _ field: Field) {
        switch field {
        case .stream where !streamNames.contains(text):
            let suggestion = NearestName.suggestion(for: text, among: streamNames)
            problems.add(at: node, "there is no stream \(Shown.quoted(text))\(suggestion)")
        case .kind where !Self.usualKinds.contains(text):
            let suggestion = NearestName.suggestion(for: text, among: Self.usualKinds)
            if !suggestion.isEmpty {
                problems.add(.warning, at: node, "an unusual kind \(Shown.quoted(text))\(suggestion)")
            }
        default: break
        }
    }
}
