internal import RelayCore

/// A condition as the file has it, for `explain` and for the lint; deciding does not read it.
struct WrittenCondition: Sendable {
    /// What is asked.
    indirect enum Form: Sendable {
        /// A field has one of the values.
        case values(Field, WrittenValues)
        /// One of the times, by name, is on.
        case time([String])
        /// A value of the event as it came passes a test.
        case field(FieldTest)
        /// All parts hold: the members of an object, or the elements of `all`.
        case all([WrittenCondition])
        /// One of the parts holds.
        case any([WrittenCondition])
        /// The part does not hold.
        case not(WrittenCondition)
    }

    /// What is asked.
    var form: Form
    /// The key and its value as written, such as `"kind": "like"`; of what has parts the key alone.
    var text: String
    /// What is decided; of what has parts the parts decide.
    var condition: Condition
    /// Where its value stands.
    var position: Position
    /// The way to it in the file.
    var place: ConfigurationPath

    /// The longest text that is kept.
    static let longestText = 200

    /// The values of a field in the form in which they compare.
    var valueSet: ValueSet? {
        if case .matches(_, let set) = condition { set } else { nil }
    }

    /// Whether it depends on a time.
    var usesTime: Bool {
        switch form {
        case .time: true
        case .values, .field: false
        case .all(let parts), .any(let parts): parts.contains { $0.usesTime }
        case .not(let part): part.usesTime
        }
    }

    /// Returns the condition under which rules decide.
    var decided: Condition {
        switch form {
        case .values, .time, .field: condition
        case .all(let parts): Condition.conjunction(of: parts.map(\.decided))
        case .any(let parts): .any(parts.map(\.decided))
        case .not(let part): .not(part.decided)
        }
    }
}

/// The values of a condition as the file has them, joined by *or*.
struct WrittenValues: Sendable {
    /// The literals, those of lists included.
    var literals: [String] = []
    /// The globs, those of lists included.
    var globs: [String] = []
    /// The regular expressions, with their slashes.
    var patterns: [String] = []
    /// The names of lists.
    var lists: [String] = []

    /// Adds the entries of the list that `text`, with its `@`, names.
    mutating func add(_ entries: [String], of text: String) {
        lists.append(String(text.dropFirst()))
        for entry in entries { Glob.isGlob(entry) ? globs.append(entry) : literals.append(entry) }
    }
}
