internal import RelayCore

/// Reads the elements of `rules` one after the other.
struct RuleReader {
    /// The longest name of a rule, in characters; it stands in every line of the log and every receipt.
    private static let longestName = 100

    private let sinks: [String: Int]
    private let sinkNames: [String]
    private let problems: Problems
    private(set) var conditions: ConditionReader
    private let policies: PolicyReader
    private let wording: WordingReader
    private var names: [String: ConfigurationNode] = [:]

    /// Creates a reader for a file with such sinks.
    init(
        sinkNames: [String], problems: Problems, conditions: ConditionReader, policies: PolicyReader,
        wording: WordingReader
    ) {
        self.sinkNames = sinkNames
        sinks = Dictionary(zip(sinkNames, sinkNames.indices), uniquingKeysWith: { first, _ in first })
        self.problems = problems
        self.conditions = conditions
        self.policies = policies
        self.wording = wording
    }

    /// Reads the next rule; returns nil after a problem.
    mutating func read(_ node: ConfigurationNode) -> ReadRule? {
        guard var reader = ObjectReader(node, problems) else { return nil }
        let errorsBefore = problems.errorCount
        let name = name(&reader)
        let when = reader.optional("when").flatMap { conditions.read($0, problems) }
        let action = action(&reader)
        var policy = policies.read(&reader, isDrop: action.isDrop)
        let wording = wording.read(&reader)
        reader.finish()
        guard problems.errorCount == errorsBefore, let name else { return nil }
        policy.rule = name
        policy.sinks = action.sinks
        policy.keepsRaw = wording.asksForFields
        let rule = Rule(
            name: name, isDrop: action.isDrop, isContinued: action.isContinued, sinks: action.sinks, wording: wording,
            policy: policy, firstActors: when.map { conditions.actorLists(of: $0) } ?? [])
        return ReadRule(rule: rule, when: when, node: node)
    }

    private mutating func name(_ reader: inout ObjectReader) -> String? {
        guard let node = reader.required("name"), let name = node.string(problems) else { return nil }
        guard !name.isEmpty, name.unicodeScalars.count <= Self.longestName else {
            problems.add(at: node, "a name has 1 to \(Self.longestName) characters")
            return nil
        }
        guard !name.unicodeScalars.contains(where: Self.isControl) else {
            problems.add(at: node, "a name has no control characters")
            return nil
        }
        if let first = names[name] {
            let place = "\(first.path) at \(first.position.line):\(first.position.column)"
            problems.add(at: node, "the name \(Shown.quoted(name)) is taken by \(place)")
            return nil
        }
        names[name] = node
        return name
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private func action(_ reader: inout ObjectReader) -> (isDrop: Bool, isContinued: Bool, sinks: [Int]) {
        let to = reader.optional("to")
        let drop = reader.optional("drop")
        let goesOn = reader.optional("continue")
        let isContinued = goesOn?.bool(problems) ?? false
        let isDrop = drop?.bool(problems) ?? false
        if let drop, case .bool(false) = drop.value { problems.add(at: drop, "\"drop\" is true or left out") }
        switch (to, drop) {
        case (nil, nil): problems.add(at: reader.node, "a rule has \"to\" or \"drop\"; here is neither")
        case (.some, .some): problems.add(at: reader.node, "a rule has \"to\" or \"drop\"; here are both")
        default: break
        }
        if isContinued, drop != nil, let goesOn {
            problems.add(at: goesOn, "\"continue\" makes no sense beside \"drop\", which ends the matching")
        }
        return (isDrop, isContinued, to.map(sinkNumbers) ?? [])
    }

    private func sinkNumbers(_ node: ConfigurationNode) -> [Int] {
        guard case .array(let elements) = node.value else {
            problems.add(at: node, "expected an array of names of sinks, found \(node.kind)")
            return []
        }
        if elements.isEmpty { problems.add(at: node, "\"to\" names at least one sink") }
        var numbers: [Int] = []
        var seen: Set<Int> = []
        for element in elements {
            guard let name = element.string(problems, expected: "the name of a sink") else { continue }
            guard let number = sinks[name] else {
                let suggestion = NearestName.suggestion(for: name, among: sinkNames)
                problems.add(at: element, "there is no sink \(Shown.quoted(name))\(suggestion)")
                continue
            }
            if seen.insert(number).inserted {
                numbers.append(number)
            } else {
                problems.add(at: element, "the sink \(Shown.quoted(name)) stands twice")
            }
        }
        return numbers
    }
}
