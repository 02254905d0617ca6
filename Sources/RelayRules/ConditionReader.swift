internal import RelayCore

/// Reads `when`: fields joined by *and*, and `all`, `any`, `not`.
struct ConditionReader {
    private var values: ValueReader
    private let times: ReadTimes

    /// Creates a reader of conditions with such values and times.
    init(values: ValueReader, times: ReadTimes) {
        self.values = values
        self.times = times
    }

    /// The names of the lists that were used.
    var usedLists: Set<String> { values.usedLists }

    /// Reads a condition; returns nil after a problem.
    mutating func read(_ node: ConfigurationNode, _ problems: Problems) -> WrittenCondition? {
        guard var reader = ObjectReader(node, problems) else { return nil }
        let errorsBefore = problems.errorCount
        var parts: [WrittenCondition] = []
        for field in Field.allCases {
            guard let value = reader.optional(field.rawValue), let read = values.read(value, field) else { continue }
            parts.append(
                leaf(field.rawValue, value, .values(field, read.written), .matches(field, read.set)))
        }
        if let node = reader.optional("time"), let part = time(node, problems) { parts.append(part) }
        if let node = reader.optional("field") { parts += fields(node, problems) }
        if let node = reader.optional("all") { parts.append(branch("all", node, .all(list(node, problems)))) }
        if let node = reader.optional("any") { parts.append(branch("any", node, .any(list(node, problems)))) }
        if let node = reader.optional("not"), let part = read(node, problems) {
            parts.append(branch("not", node, .not(part)))
        }
        reader.finish()
        guard problems.errorCount == errorsBefore else { return nil }
        if parts.isEmpty {
            problems.add(at: node, "an empty condition; a rule without \"when\" matches everything")
            return nil
        }
        return parts.count == 1 ? parts[0] : branch("", node, .all(parts))
    }

    /// Returns the sets of the lists of actors that a condition demands, for telling their actors first.
    mutating func actorLists(of condition: WrittenCondition) -> [ValueSet] {
        switch condition.form {
        case .values(.actor, let written): written.lists.compactMap { values.actors(inList: $0) }
        case .values, .time, .field, .not: []
        case .all(let parts), .any(let parts): parts.flatMap { actorLists(of: $0) }
        }
    }

    private mutating func list(_ node: ConfigurationNode, _ problems: Problems) -> [WrittenCondition] {
        guard case .array(let elements) = node.value else {
            problems.add(at: node, "expected an array of conditions, found \(node.kind)")
            return []
        }
        if elements.isEmpty { problems.add(at: node, "names no condition") }
        return elements.compactMap { read($0, problems) }
    }

    private func time(_ node: ConfigurationNode, _ problems: Problems) -> WrittenCondition? {
        if node.list.isEmpty { problems.add(at: node, "an empty array matches nothing") }
        let places = node.list.compactMap { times.place($0, problems) }
        guard !places.isEmpty, places.count == node.list.count else { return nil }
        // A file with more times is refused.
        let bits = places.reduce(into: UInt64(0)) { $0 |= $1 < 64 ? 1 << UInt64($1) : 0 }
        return leaf("time", node, .time(places.map { times.names[$0] }), .time(bits))
    }

    // MARK: Values of the event as it came

    private mutating func fields(_ node: ConfigurationNode, _ problems: Problems) -> [WrittenCondition] {
        guard case .object(let members) = node.value else {
            problems.add(
                at: node, "expected an object such as {\"/user/verified\": {\"equals\": true}}, found \(node.kind)")
            return []
        }
        let named = members.filter { !ObjectReader.isFree($0.key) }
        if named.isEmpty { problems.add(at: node, "names no value, such as \"/user/verified\"") }
        return named.compactMap { member in
            guard let pointer = JSONPointer.read(member.key, at: member.value, problems) else { return nil }
            let checks = checks(member.value, problems)
            guard !checks.isEmpty else { return nil }
            let test = FieldTest(pointer, checks)
            return leaf("field", member.value, .field(test), .field(test), key: member.key)
        }
    }

    private mutating func checks(_ node: ConfigurationNode, _ problems: Problems) -> [FieldTest.Check] {
        guard var reader = ObjectReader(node, problems) else { return [] }
        let errorsBefore = problems.errorCount
        var checks: [FieldTest.Check] = []
        if let node = reader.optional("equals") { checks.append(.equals(literals(node, problems))) }
        if let node = reader.optional("matches"), let read = values.read(node, nil) {
            checks.append(.matches(read.set))
        }
        if let node = reader.optional("exists"), let flag = node.bool(problems) { checks.append(.exists(flag)) }
        if let node = reader.optional("above"), let number = number(node, problems) { checks.append(.above(number)) }
        if let node = reader.optional("below"), let number = number(node, problems) { checks.append(.below(number)) }
        reader.finish()
        if checks.isEmpty, problems.errorCount == errorsBefore {
            problems.add(
                at: node, "asks nothing; a value has \"equals\", \"matches\", \"exists\", \"above\" or \"below\"")
        }
        return checks
    }

    private func literals(_ node: ConfigurationNode, _ problems: Problems) -> [JSONLiteral] {
        if node.list.isEmpty { problems.add(at: node, "an empty array equals nothing") }
        return node.list.compactMap { element in
            if let literal = JSONLiteral(element) { return literal }
            problems.add(at: element, "expected a string, a number, true, false or null, found \(element.kind)")
            return nil
        }
    }

    private func number(_ node: ConfigurationNode, _ problems: Problems) -> JSONNumber? {
        if case .number(let text) = node.value { return JSONNumber(text) }
        problems.add(at: node, "expected a number, found \(node.kind)")
        return nil
    }

    // MARK: What is kept of the file

    private func leaf(
        _ name: String, _ node: ConfigurationNode, _ form: WrittenCondition.Form, _ condition: Condition,
        key: String? = nil
    ) -> WrittenCondition {
        let value = key.map { "{\"\($0)\": \(node.json)}" } ?? node.json
        let text = "\"\(name)\": \(value)"
        let isLong = text.unicodeScalars.count > WrittenCondition.longestText
        let kept = isLong ? String(text.unicodeScalars.prefix(WrittenCondition.longestText)) + "…" : text
        return WrittenCondition(
            form: form, text: kept, condition: condition, position: node.position, place: node.place)
    }

    private func branch(
        _ name: String, _ node: ConfigurationNode, _ form: WrittenCondition.Form
    ) -> WrittenCondition {
        WrittenCondition(
            form: form, text: name.isEmpty ? "" : "\"\(name)\"", condition: .always, position: node.position,
            place: node.place)
    }
}
