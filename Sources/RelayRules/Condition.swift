internal import GLibRuntime
internal import RelayCore

/// A field of an event that conditions ask about.
enum Field: String, Sendable, CaseIterable {
    case kind, actor, post, stream, text

    /// How the field's values compare.
    var comparison: Comparison {
        switch self {
        case .actor, .text: .folded
        case .kind, .stream: .exact
        case .post: .exactOrUUID
        }
    }

    /// Returns where the field lies in the event's storage; the stream lies elsewhere.
    func range(in record: EventRecord) -> TextRange {
        switch self {
        case .kind: record.kind
        case .actor: record.actor
        case .post: record.post
        case .text: record.text
        case .stream: .absent
        }
    }
}

/// When a rule matches.
indirect enum Condition: Sendable {
    case always
    /// The field is present and one of the values matches it.
    case matches(Field, ValueSet)
    /// One of the times is on, of which each is a bit.
    case time(UInt64)
    /// A value of the event as it came passes a test.
    case field(FieldTest)
    case all([Condition])
    case any([Condition])
    case not(Condition)

    /// Whether the condition holds for an event.
    func holds(for event: Event, _ scratch: inout Scratch) -> Bool {
        switch self {
        case .always: return true
        case .matches(.stream, let values):
            return values.matches(event.stream.utf8.span.bytes, .stream, &scratch)
        case .matches(let field, let values):
            return event.reading(field.range(in: event.record), absent: false) {
                values.matches($0, field, &scratch)
            }
        case .time(let bits): return bits & scratch.timeBits != 0
        case .field(let test): return test.holds(for: event, &scratch)
        case .all(let conditions):
            for condition in conditions where !condition.holds(for: event, &scratch) { return false }
            return true
        case .any(let conditions):
            for condition in conditions where condition.holds(for: event, &scratch) { return true }
            return false
        case .not(let condition):
            return !condition.holds(for: event, &scratch)
        }
    }

    /// The conditions that must all hold, `all` within `all` included.
    var conjuncts: [Condition] {
        switch self {
        case .always: []
        case .all(let conditions): conditions.flatMap(\.conjuncts)
        default: [self]
        }
    }

    /// Returns the condition that all of `conditions` hold.
    static func conjunction(of conditions: [Condition]) -> Condition {
        let parts = conditions.flatMap(\.conjuncts)
        if parts.count == 1 { return parts[0] }
        return parts.isEmpty ? .always : .all(parts)
    }
}

/// What is worked out once an event, and only if a condition asks for it.
struct Scratch {
    /// The actor in its folded form, if it is not ASCII.
    private var actor: [UInt8]?
    /// The text in its folded form, if it is not ASCII.
    private var text: [UInt8]?
    /// Whether a regular expression gave up at its limit since this was last set to false.
    var isOverLimit = false
    /// The times that are on; none if no condition asks for a time.
    let timeBits: UInt64

    /// Creates an empty scratch for a moment at which such times are on.
    init(timeBits: UInt64) {
        self.timeBits = timeBits
    }

    /// Returns a text in its folded form; that of an actor or a text is remembered.
    mutating func folded(_ value: RawSpan, of field: Field?) -> [UInt8] {
        switch field {
        case .actor:
            let folded = actor ?? TextFolding.fold(value)
            actor = folded
            return folded
        case .text:
            let folded = text ?? TextFolding.fold(value)
            text = folded
            return folded
        case .kind, .post, .stream, nil: return TextFolding.fold(value)
        }
    }
}
