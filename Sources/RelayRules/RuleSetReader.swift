package import RelayCore

/// Reads the rules of a rules file; other rooms read its streams and sinks.
package enum RuleSetReader {
    /// Reads the members `lists` and `rules` of the file, and refuses `times`, which is not supported yet.
    ///
    /// - Parameters:
    ///   - root: the file's object; its other members are left to the caller.
    ///   - sinkNames: the names of the sinks in the order of the file, those with faults of their own included.
    ///   - streamNames: the names of the streams, likewise.
    ///   - streamLinks: the link templates of the streams that have one.
    /// - Returns: the rules, or nil if they have an error; all are in `problems` then.
    package static func read(
        root: inout ObjectReader, sinkNames: [String], streamNames: [String],
        streamLinks: [String: LinkTemplate] = [:], problems: Problems
    ) -> RuleSet? {
        let errorsBefore = problems.errorCount
        let lists = root.optional("lists").map { ListReader.read($0, problems) } ?? [:]
        root.refuse("times")
        let node = root.required("rules")
        var reader = RuleReader(
            sinkNames: sinkNames, problems: problems,
            conditions: ConditionReader(values: ValueReader(lists: lists, streamNames: streamNames, problems)))
        var rules: [(rule: Rule, condition: Condition)] = []
        if let node {
            if case .array(let elements) = node.value {
                rules = elements.compactMap { reader.read($0) }
            } else {
                problems.add(at: node, "expected an array of rules, found \(node.kind)")
            }
        }
        guard problems.errorCount == errorsBefore else { return nil }
        return RuleSet(rules, sinkNames: sinkNames, streamLinks: streamLinks)
    }
}

/// Reads `lists`: names for values that several rules use.
enum ListReader {
    /// Returns the literals and globs of each list; a list with faults is there, so that its users are not at fault.
    static func read(_ node: ConfigurationNode, _ problems: Problems) -> [String: [String]] {
        guard var reader = ObjectReader(node, problems) else { return [:] }
        var lists: [String: [String]] = [:]
        for member in reader.takeAll() {
            lists[member.key] = values(of: member.value, problems)
        }
        reader.finish()
        return lists
    }

    private static func values(of node: ConfigurationNode, _ problems: Problems) -> [String] {
        guard case .array(let elements) = node.value else {
            problems.add(at: node, "expected an array of names, found \(node.kind)")
            return []
        }
        return elements.compactMap { element in
            guard let text = ValueReader.text(of: element, problems) else { return nil }
            if text.hasPrefix("@") {
                problems.add(at: element, "a list cannot hold another list; write its names here")
                return nil
            }
            if text.hasPrefix("/") {
                problems.add(at: element, "a list holds names and globs; a regular expression goes into the rule")
                return nil
            }
            return text
        }
    }
}
