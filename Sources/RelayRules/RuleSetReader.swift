package import RelayCore

/// Reads the rules of a rules file; other rooms read its streams and sinks.
package enum RuleSetReader {
    /// Reads the members `lists`, `times` and `rules` of the file.
    ///
    /// - Parameters:
    ///   - root: the file's object; its other members are left to the caller.
    ///   - sinkNames: the names of the sinks in the order of the file, those with faults of their own included.
    ///   - streamNames: the names of the streams, likewise.
    ///   - streamLinks: the link templates of the streams that have one.
    ///   - lints: whether to warn of rules that are right and cannot be meant; of a file with errors it is not done.
    ///   - problems: where everything that is wrong goes.
    /// - Returns: the rules, or nil if they have an error; all are in `problems` then.
    package static func read(
        root: inout ObjectReader, sinkNames: [String], streamNames: [String],
        streamLinks: [String: LinkTemplate] = [:], lints: Bool = true, problems: Problems
    ) -> RuleSet? {
        let errorsBefore = problems.errorCount
        let listsNode = root.optional("lists")
        let lists = listsNode.map { ListReader.read($0, problems) } ?? [:]
        let zones = ZoneReader()
        let times = root.optional("times").map { TimesReader(problems, zones: zones).read($0) } ?? ReadTimes()
        let node = root.required("rules")
        let values = ValueReader(lists: lists, streamNames: streamNames, problems)
        var reader = RuleReader(
            sinkNames: sinkNames, problems: problems, conditions: ConditionReader(values: values, times: times),
            policies: PolicyReader(times: times, zones: zones, problems),
            wording: WordingReader(zones: zones, problems))
        var rules: [ReadRule] = []
        if let node {
            if case .array(let elements) = node.value {
                rules = elements.compactMap { reader.read($0) }
            } else {
                problems.add(at: node, "expected an array of rules, found \(node.kind)")
            }
        }
        guard problems.errorCount == errorsBefore else { return nil }
        if lints, !problems.hasErrors {
            var lint = RuleLint(rules, problems)
            lint.checkRules()
            if let node { lint.checkRest(at: node) }
            lint.checkLists(listsNode?.members ?? [], used: reader.conditions.usedLists)
            lint.checkTimes(times.nodes)
        }
        return RuleSet(rules, sinkNames: sinkNames, streamLinks: streamLinks, times: times)
    }
}

extension ConfigurationNode {
    /// The members of an object, but for notes; none of another value.
    fileprivate var members: [Member] {
        guard case .object(let members) = value else { return [] }
        return members.filter { !ObjectReader.isFree($0.key) }
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
