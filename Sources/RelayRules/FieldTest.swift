internal import RelayCore

/// What a condition asks of one value of the event as it came: all of its checks must hold.
final class FieldTest: Sendable {
    /// One check.
    enum Check: Sendable {
        /// The value is one of these.
        case equals([JSONLiteral])
        /// The value has a text, and one of the values matches it.
        case matches(ValueSet)
        /// There is a value, or there is none.
        case exists(Bool)
        /// The value is a number greater than this one.
        case above(JSONNumber)
        /// The value is a number less than this one.
        case below(JSONNumber)
    }

    /// Where the value is.
    let pointer: JSONPointer
    /// The checks, at least one.
    let checks: [Check]

    /// Creates a test.
    init(_ pointer: JSONPointer, _ checks: [Check]) {
        self.pointer = pointer
        self.checks = checks
    }

    /// Whether all checks hold for an event; one that did not come as JSON has no values.
    func holds(for event: Event, _ scratch: inout Scratch) -> Bool {
        event.reading(event.record.raw, absent: fits(nil, [], &scratch)) { raw in
            fits(JSONLookup.find(pointer, in: raw), raw, &scratch)
        }
    }

    private func fits(_ value: JSONLookup?, _ raw: [UInt8], _ scratch: inout Scratch) -> Bool {
        fits(value, raw.span.bytes, &scratch)
    }

    private func fits(_ value: JSONLookup?, _ raw: RawSpan, _ scratch: inout Scratch) -> Bool {
        for check in checks {
            let fits =
                switch check {
                case .exists(let flag): (value != nil) == flag
                case .equals(let literals):
                    value.map { value in literals.contains { value.equals($0, in: raw) } } ?? false
                case .matches(let values): value.map { matches($0, raw, values, &scratch) } ?? false
                case .above(let number): value?.number(in: raw).map { $0 > number } ?? false
                case .below(let number): value?.number(in: raw).map { $0 < number } ?? false
                }
            if !fits { return false }
        }
        return true
    }

    private func matches(_ value: JSONLookup, _ raw: RawSpan, _ values: ValueSet, _ scratch: inout Scratch) -> Bool {
        var text: [UInt8] = []
        guard value.append(from: raw, to: &text) else { return false }
        return values.matches(text.span.bytes, nil, &scratch)
    }
}
