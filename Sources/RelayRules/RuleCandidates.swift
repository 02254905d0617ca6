internal import RelayCore

/// Finds the rules whose condition may follow from another one, by the values that they have in common.
///
/// What follows from a condition asks for no value that it does not ask for. So a rule is filed under the values of one
/// of its parts, the one that the fewest share, and looked up by one value of each part of a condition: ten thousand
/// rules that name each another actor need no comparison at all.
struct RuleCandidates {
    /// What rules are filed under.
    private enum Key: Hashable {
        case literal(Field, [UInt8])
        case glob(Field, Glob)
        case pattern(Field, String)
        /// Sets with any glob, which may match a literal.
        case globs(Field)
        /// Sets that match everything.
        case anything(Field)
        case field(String)
        case time(String)
        /// Parts of which nothing can be looked up.
        case others
    }

    /// The rules filed under a set of values; a set that rules share, as that of a list, is filed once.
    private struct Shelf {
        var rules: [Int] = []
    }

    private var shelves: [Shelf] = []
    private var shelvesOfSets: [ObjectIdentifier: Int] = [:]
    private var shelvesOfKeys: [Key: [Int]] = [:]
    /// How many parts of rules have a key.
    private var shares: [Key: Int] = [:]
    private var sharesOfSets: [ObjectIdentifier: Int] = [:]

    /// Files rules by their places.
    init(_ conditions: [WrittenCondition?]) {
        var uses: [ObjectIdentifier: (count: Int, keys: [Key])] = [:]
        for condition in conditions { condition.map { Self.count($0, &uses, &shares) } }
        for use in uses.values {
            for key in use.keys { shares[key, default: 0] += use.count }
        }
        for (set, use) in uses { sharesOfSets[set] = use.keys.reduce(0) { max($0, shares[$1] ?? 0) } }
        for (rule, condition) in conditions.enumerated() { file(rule, condition) }
    }

    /// Returns the rules before `end` that may follow from a condition, in the order of the file, and how many were
    /// looked at for it.
    func candidates(for condition: WrittenCondition?, before end: Int) -> (rules: [Int], cost: Int) {
        var keys: Set<Key> = [.others]
        guard Self.addQueries(of: condition?.conjuncts ?? [], to: &keys) else { return (Array(0..<end), end) }
        var found: [Int] = []
        for key in keys {
            for shelf in shelvesOfKeys[key] ?? [] { found += shelves[shelf].rules.prefix { $0 < end } }
        }
        let cost = found.count
        found.sort()
        var rules: [Int] = []
        for rule in found where rule != rules.last { rules.append(rule) }
        return (rules, cost)
    }

    // MARK: Filing

    private static func count(
        _ condition: WrittenCondition, _ uses: inout [ObjectIdentifier: (count: Int, keys: [Key])],
        _ shares: inout [Key: Int]
    ) {
        switch condition.form {
        case .values(let field, let values):
            guard let set = condition.valueSet else { return }
            let id = ObjectIdentifier(set)
            let keys = uses[id]?.keys ?? Self.keys(of: set, values, field)
            uses[id] = ((uses[id]?.count ?? 0) + 1, keys)
        case .time(let names): for name in names { shares[.time(name), default: 0] += 1 }
        case .field: shares[.field(condition.text), default: 0] += 1
        case .all(let parts), .any(let parts): for part in parts { count(part, &uses, &shares) }
        case .not: break
        }
    }

    private static func keys(of set: ValueSet, _ values: WrittenValues, _ field: Field) -> [Key] {
        if set.globs.contains(where: \.matchesAnything) { return [.anything(field)] }
        return set.literals.map { .literal(field, $0) } + set.globs.map { .glob(field, $0) }
            + values.patterns.map { .pattern(field, $0) } + (set.globs.isEmpty ? [] : [.globs(field)])
    }

    private mutating func file(_ rule: Int, _ condition: WrittenCondition?) {
        guard let places = place(of: condition?.conjuncts ?? [])?.parts else { return put(rule, under: [.others]) }
        for part in places {
            switch part.form {
            case .values(let field, let values):
                guard let set = part.valueSet else { continue }
                let id = ObjectIdentifier(set)
                if let shelf = shelvesOfSets[id] {
                    if shelves[shelf].rules.last != rule { shelves[shelf].rules.append(rule) }
                } else {
                    shelvesOfSets[id] = shelves.count
                    put(rule, under: Self.keys(of: set, values, field))
                }
            case .time(let names): put(rule, under: names.map { .time($0) })
            case .field: put(rule, under: [.field(part.text)])
            case .all, .any, .not: break
            }
        }
    }

    private mutating func put(_ rule: Int, under keys: [Key]) {
        for key in Set(keys) { shelvesOfKeys[key, default: []].append(shelves.count) }
        shelves.append(Shelf(rules: [rule]))
    }

    /// Chooses the part of a conjunction under which a rule is filed, and says with how many it shares it at most.
    ///
    /// Nil if no part can be looked up. Of a choice it is a part of each.
    private func place(of conjuncts: [WrittenCondition]) -> (parts: [WrittenCondition], shares: Int)? {
        var best: (parts: [WrittenCondition], shares: Int)?
        for part in conjuncts {
            guard let place = place(of: part), place.shares < best?.shares ?? .max else { continue }
            best = place
        }
        return best
    }

    private func place(of part: WrittenCondition) -> (parts: [WrittenCondition], shares: Int)? {
        switch part.form {
        case .values(let field, _):
            guard let set = part.valueSet, let shares = sharesOfSets[ObjectIdentifier(set)] else { return nil }
            // What every event has follows from everything.
            let isAlways = (field == .kind || field == .stream) && set.globs.contains(where: \.matchesAnything)
            return isAlways ? nil : ([part], shares)
        case .time(let names): return ([part], names.reduce(0) { max($0, shares[.time($1)] ?? 0) })
        case .field: return ([part], shares[.field(part.text)] ?? 0)
        case .any(let parts):
            var all: (parts: [WrittenCondition], shares: Int) = ([], 0)
            for part in parts {
                guard let place = place(of: part.conjuncts) else { return nil }
                all.parts += place.parts
                all.shares += place.shares
            }
            return all
        case .all, .not: return nil
        }
    }

    // MARK: Looking up

    /// Adds one value of each part; false if a part can hold for no event, from which everything follows.
    private static func addQueries(of conjuncts: [WrittenCondition], to keys: inout Set<Key>) -> Bool {
        for part in conjuncts {
            switch part.form {
            case .values(let field, let values):
                guard let set = part.valueSet else { continue }
                keys.insert(.anything(field))
                if let literal = set.literals.first {
                    keys.formUnion([.literal(field, literal), .globs(field)])
                } else if let glob = set.globs.first {
                    keys.insert(.glob(field, glob))
                } else if let pattern = values.patterns.first {
                    keys.insert(.pattern(field, pattern))
                } else {
                    return false
                }
            case .time(let names): if let name = names.first { keys.insert(.time(name)) }
            case .field: keys.insert(.field(part.text))
            case .any(let parts):
                // What follows from a choice follows from each of its parts.
                guard addQueries(of: parts.first?.conjuncts ?? [], to: &keys) else { return false }
            case .all, .not: break
            }
        }
        return true
    }
}
