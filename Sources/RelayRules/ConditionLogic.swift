internal import RelayCore

/// What can be said of conditions without any event: what never holds, and what follows from what.
///
/// It is decided for literals, lists, equal globs and patterns, and catch-alls; of everything else nothing is said.
struct ConditionLogic {
    /// Comparisons that may still be made; afterwards nothing is said any more.
    private var budget: Int

    /// Creates a logic that makes at most so many comparisons, a few tenths of a second's worth.
    init(budget: Int = 500_000) {
        self.budget = budget
    }

    /// Whether nothing more will be said.
    var isExhausted: Bool { budget <= 0 }

    /// Whether every event for which `first` holds is one for which `second` holds; nil holds always.
    mutating func implies(_ first: WrittenCondition?, _ second: WrittenCondition?) -> Bool {
        guard let second else { return true }
        guard spend(1) else { return false }
        let facts = first.map(\.conjuncts) ?? []
        return second.conjuncts.allSatisfy { covers(facts, $0) }
    }

    /// Whether a condition holds for no event at all.
    mutating func isNever(_ condition: WrittenCondition) -> Bool {
        isNever(condition.conjuncts)
    }

    /// Whether a condition holds for every event.
    func isAlways(_ condition: WrittenCondition?) -> Bool {
        guard let condition else { return true }
        switch condition.form {
        // Every event has a kind and a stream.
        case .values(.kind, let values), .values(.stream, let values): return values.globs.contains(where: isAnything)
        case .all(let parts): return parts.allSatisfy { isAlways($0) }
        case .any(let parts): return parts.contains { isAlways($0) }
        case .values, .time, .field, .not: return false
        }
    }

    // MARK: Never

    private mutating func isNever(_ facts: [WrittenCondition]) -> Bool {
        for (place, fact) in facts.enumerated() {
            guard spend(1) else { return false }
            switch fact.form {
            case .values(_, let values):
                if values.isEmpty { return true }
                for other in facts[..<place] where areDisjoint(fact, other) { return true }
            case .field(let test): if test.isNever { return true }
            case .not(let part):
                if isAlways(part) || part.conjuncts.allSatisfy({ covers(facts, $0) }) { return true }
            case .any(let parts):
                let others = facts[..<place] + facts[(place + 1)...]
                if parts.allSatisfy({ isNever(others + $0.conjuncts) }) { return true }
            case .time, .all: break
            }
        }
        return false
    }

    /// Whether two conditions on the same field have no value in common.
    private mutating func areDisjoint(_ first: WrittenCondition, _ second: WrittenCondition) -> Bool {
        guard case .values(let field, let left) = first.form, case .values(field, let right) = second.form,
            left.patterns.isEmpty, right.patterns.isEmpty, let left = first.valueSet, let right = second.valueSet
        else { return false }
        return haveNothingInCommon(left, right) || haveNothingInCommon(right, left)
    }

    private mutating func haveNothingInCommon(_ left: ValueSet, _ right: ValueSet) -> Bool {
        guard left.globs.isEmpty, spend(left.literals.count * (right.globs.count + 1)) else { return false }
        return !left.literals.contains(where: right.containsName)
    }

    // MARK: What follows

    private mutating func covers(_ facts: [WrittenCondition], _ wanted: WrittenCondition) -> Bool {
        if isAlways(wanted) { return true }
        for fact in facts where follows(wanted, from: fact) { return true }
        for fact in facts {
            guard case .any(let parts) = fact.form, spend(parts.count) else { continue }
            if parts.allSatisfy({ implies($0, wanted) }) { return true }
        }
        guard case .any(let parts) = wanted.form, spend(parts.count) else { return false }
        return parts.contains { part in part.conjuncts.allSatisfy { covers(facts, $0) } }
    }

    private mutating func follows(_ wanted: WrittenCondition, from fact: WrittenCondition) -> Bool {
        guard spend(1) else { return false }
        switch (fact.form, wanted.form) {
        case (.values(let field, let values), .values(let other, let others)):
            guard field == other, let set = fact.valueSet, let otherSet = wanted.valueSet else { return false }
            return isSubset(set, values.patterns, of: otherSet, others.patterns)
        case (.time(let names), .time(let others)): return Set(names).isSubset(of: others)
        case (.field, .field): return fact.text == wanted.text && !fact.text.hasSuffix("…")
        case (.not(let part), .not(let other)): return implies(other, part)
        case (.values, .not(let other)): return areDisjoint(fact, other)
        default: return false
        }
    }

    /// What a pattern says of a literal can be otherwise in another case, so patterns are compared as they are written.
    private mutating func isSubset(
        _ values: ValueSet, _ patterns: [String], of others: ValueSet, _ otherPatterns: [String]
    ) -> Bool {
        if values === others || others.globs.contains(where: \.matchesAnything) { return true }
        let count = values.literals.count * (others.globs.count + 1)
        guard spend(count + values.globs.count + others.globs.count + patterns.count * otherPatterns.count) else {
            return false
        }
        guard patterns.allSatisfy(otherPatterns.contains), Set(others.globs).isSuperset(of: values.globs) else {
            return false
        }
        return values.literals.allSatisfy(others.containsName)
    }

    private func isAnything(_ glob: String) -> Bool { glob.utf8.allSatisfy { $0 == UInt8(ascii: "*") } }

    /// Takes comparisons off the budget; false if it is used up.
    mutating func spend(_ count: Int) -> Bool {
        budget -= count
        return budget > 0
    }
}

extension WrittenCondition {
    /// The conditions that must all hold, `all` within `all` included.
    var conjuncts: [WrittenCondition] {
        if case .all(let parts) = form { return parts.flatMap(\.conjuncts) }
        return [self]
    }
}

extension WrittenValues {
    /// Whether there is no value, as in an empty list.
    var isEmpty: Bool { literals.isEmpty && globs.isEmpty && patterns.isEmpty }
}

extension FieldTest {
    /// Whether its checks contradict each other.
    fileprivate var isNever: Bool {
        var above: JSONNumber?
        var below: JSONNumber?
        var mustBeAbsent = false
        for check in checks {
            switch check {
            case .exists(let flag): mustBeAbsent = !flag
            case .above(let number): above = number
            case .below(let number): below = number
            case .equals, .matches: break
            }
        }
        if mustBeAbsent, checks.count > 1 { return true }
        if let above, let below { return !(above < below) }
        return false
    }
}
