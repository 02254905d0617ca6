internal import RelayCore

/// Finds what is right to the letter in the rules of a file and yet cannot be meant, and warns of it.
struct RuleLint {
    private let rules: [ReadRule]
    private let problems: Problems
    private let candidates: RuleCandidates
    private var logic = ConditionLogic()

    /// Creates a lint of rules without errors.
    init(_ rules: [ReadRule], _ problems: Problems) {
        self.rules = rules
        self.problems = problems
        candidates = RuleCandidates(rules.map(\.when))
    }

    /// Warns of rules that can never match, or that others leave nothing to do.
    mutating func checkRules() {
        for number in rules.indices {
            check(number)
            if logic.isExhausted {
                return warn(number, "this rule and those after it were not compared: that would take too long")
            }
        }
    }

    private mutating func check(_ number: Int) {
        if let when = rules[number].when, logic.isNever(when) {
            return problems.add(
                Problem(
                    .warning, at: when.position, path: when.place.text,
                    message: "can never hold, as its parts contradict each other"))
        }
        let others = candidates.candidates(for: rules[number].when, before: number)
        guard logic.spend(others.cost) else { return }
        if let other = shadow(of: number, among: others.rules) {
            warn(number, "is never asked: \(Self.shown(other)) decides everything that it would match")
        } else if let takers = takers(before: number, among: others.rules) {
            let takers = takers.map(Self.shown).joined(separator: ", ")
            warn(number, "has no effect: its sinks are all taken before, by \(takers)")
        }
    }

    /// Warns if there are events that no rule matches.
    func checkRest(at node: ConfigurationNode) {
        guard !rules.contains(where: { logic.isAlways($0.when) }) else { return }
        problems.add(
            .warning, at: node,
            "no rule catches the rest: an event that none of them matches goes nowhere; a last rule without \"when\" would catch it"
        )
    }

    /// Warns of lists that no rule uses.
    func checkLists(_ lists: [ConfigurationNode.Member], used: Set<String>) {
        for list in lists where !used.contains(list.key) {
            warn(list, "no rule uses the list \(Shown.quoted(list.key))")
        }
    }

    /// Warns of times that no rule uses.
    func checkTimes(_ times: [ConfigurationNode.Member]) {
        var used = Set(rules.compactMap(\.rule.policy.hold))
        for rule in rules { rule.when?.addTimes(to: &used) }
        for time in times where !used.contains(time.key) {
            warn(time, "no rule uses the time \(Shown.quoted(time.key))")
        }
    }

    // MARK: Rules beside each other

    /// Returns an earlier rule after which this one is never asked.
    private mutating func shadow(of number: Int, among others: [Int]) -> ReadRule? {
        for other in others where !rules[other].rule.isContinued {
            if logic.implies(rules[number].when, rules[other].when) { return rules[other] }
        }
        return nil
    }

    /// Returns the earlier rules that take all sinks of this one; nil if one is left.
    private mutating func takers(before number: Int, among others: [Int]) -> [ReadRule]? {
        let rule = rules[number]
        guard !rule.rule.isDrop else { return nil }
        var takers: [ReadRule] = []
        for sink in rule.rule.sinks {
            let taker = others.first { place in
                let other = rules[place]
                return other.rule.isContinued && other.rule.sinks.contains(sink)
                    && logic.implies(rule.when, other.when)
            }
            guard let taker = taker.map({ rules[$0] }) else { return nil }
            if !takers.contains(where: { $0.rule.name == taker.rule.name }) { takers.append(taker) }
        }
        return takers
    }

    private static func shown(_ rule: ReadRule) -> String {
        "\(Shown.quoted(rule.rule.name)) at \(rule.node.position.line):\(rule.node.position.column)"
    }

    private func warn(_ number: Int, _ message: String) {
        problems.add(.warning, at: rules[number].node, message)
    }

    private func warn(_ member: ConfigurationNode.Member, _ message: String) {
        problems.add(Problem(.warning, at: member.keyPosition, path: member.value.path, message: message))
    }
}

extension WrittenCondition {
    /// Adds the names of the times that it asks for.
    fileprivate func addTimes(to names: inout Set<String>) {
        switch form {
        case .time(let times): names.formUnion(times)
        case .values, .field: break
        case .all(let parts), .any(let parts): for part in parts { part.addTimes(to: &names) }
        case .not(let part): part.addTimes(to: &names)
        }
    }
}
