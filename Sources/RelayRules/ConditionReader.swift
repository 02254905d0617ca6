internal import RelayCore

/// Reads `when`: fields joined by *and*, and `all`, `any`, `not`.
struct ConditionReader {
    private var values: ValueReader

    /// Creates a reader of conditions with such values.
    init(values: ValueReader) {
        self.values = values
    }

    /// Reads a condition; returns nil after a problem.
    mutating func read(_ node: ConfigurationNode, _ problems: Problems) -> Condition? {
        guard var reader = ObjectReader(node, problems) else { return nil }
        let errorsBefore = problems.errorCount
        var parts: [Condition] = []
        for field in Field.allCases {
            guard let value = reader.optional(field.rawValue) else { continue }
            if let set = values.read(value, field) { parts.append(.matches(field, set)) }
        }
        if let node = reader.optional("all") { parts.append(.all(list(node, problems))) }
        if let node = reader.optional("any") { parts.append(.any(list(node, problems))) }
        if let node = reader.optional("not"), let condition = read(node, problems) { parts.append(.not(condition)) }
        reader.finish(notYet: ["time", "field"])
        guard problems.errorCount == errorsBefore else { return nil }
        if parts.isEmpty {
            problems.add(at: node, "an empty condition; a rule without \"when\" matches everything")
            return nil
        }
        return Condition.conjunction(of: parts)
    }

    private mutating func list(_ node: ConfigurationNode, _ problems: Problems) -> [Condition] {
        guard case .array(let elements) = node.value else {
            problems.add(at: node, "expected an array of conditions, found \(node.kind)")
            return []
        }
        if elements.isEmpty { problems.add(at: node, "names no condition") }
        return elements.compactMap { read($0, problems) }
    }
}
