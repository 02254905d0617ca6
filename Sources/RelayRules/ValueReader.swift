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
    private var listSets: [ListUse: ValueSet] = [:]

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

    /// Reads one value or an array of values of `field`; returns nil after a problem.
    mutating func read(_ node: ConfigurationNode, _ field: Field) -> ValueSet? {
        let nodes = node.list
        if nodes.isEmpty {
            problems.add(at: node, "an empty array matches nothing")
            return nil
        }
        if nodes.count == 1, case .string(let text) = nodes[0].value, text.hasPrefix("@") {
            return listSet(nodes[0], text, field)
        }
        let errorsBefore = problems.errorCount
        var literals: [String] = []
        var globs: [String] = []
        var patterns: [TextPattern] = []
        for node in nodes {
            guard let text = Self.text(of: node, problems) else { continue }
            if text.hasPrefix("@") {
                for entry in list(node, text) ?? [] { Glob.isGlob(entry) ? globs.append(entry) : literals.append(entry) }
            } else if text.hasPrefix("/") {
                if let pattern = pattern(node, text) { patterns.append(pattern) }
            } else if Glob.isGlob(text) {
                globs.append(text)
            } else {
                check(node, literal: text, field)
                literals.append(text)
            }
        }
        guard problems.errorCount == errorsBefore else { return nil }
        return ValueSet(literals: literals, globs: globs, patterns: patterns, field.comparison)
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

    private mutating func listSet(_ node: ConfigurationNode, _ text: String, _ field: Field) -> ValueSet? {
        guard let entries = list(node, text) else { return nil }
        let use = ListUse(list: text, comparison: field.comparison)
        if let known = listSets[use] { return known }
        let set = ValueSet(
            literals: entries.filter { !Glob.isGlob($0) }, globs: entries.filter(Glob.isGlob), patterns: [],
            field.comparison)
        listSets[use] = set
        return set
    }

    private func list(_ node: ConfigurationNode, _ text: String) -> [String]? {
        let name = String(text.dropFirst())
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
            if !suggestion.isEmpty { problems.add(.warning, at: node, "an unusual kind \(Shown.quoted(text))\(suggestion)") }
        default: break
        }
    }
}
