/// A value that a rules file compares with what an event holds.
package enum JSONLiteral: Sendable, Equatable {
    case string([UInt8])
    case number(JSONNumber)
    case bool(Bool)
    case null

    /// Creates the literal of a configuration's value; nil for an array or an object.
    package init?(_ node: ConfigurationNode) {
        switch node.value {
        case .string(let text): self = .string(Array(text.utf8))
        case .number(let text): self = .number(JSONNumber(text))
        case .bool(let flag): self = .bool(flag)
        case .null: self = .null
        case .array, .object: return nil
        }
    }
}

extension JSONLookup {
    /// Whether the value is `literal`: strings byte by byte once their escapes are resolved, numbers as decimals.
    package func equals(_ literal: JSONLiteral, in text: RawSpan) -> Bool {
        switch (kind, literal) {
        case (.string, .string(let other)): JSONEscapes.isEqual(text.extracting(range), other)
        case (.number, .number(let other)): number(in: text) == other
        case (.bool, .bool(let flag)): (text.byte(range.lowerBound) == UInt8(ascii: "t")) == flag
        case (.null, .null): true
        default: false
        }
    }

    /// The value as a number; nil if it is none.
    package func number(in text: RawSpan) -> JSONNumber? {
        kind == .number ? JSONNumber(text.extracting(range)) : nil
    }
}
