/// A value of a configuration file with its place.
package struct ConfigurationNode: Sendable {
    /// A JSON value.
    package indirect enum Value: Sendable {
        case null
        case bool(Bool)
        /// The number as written.
        case number(String)
        case string(String)
        case array([ConfigurationNode])
        /// The members in the order written; a key that stands twice has been reported already.
        case object([Member])
    }

    /// A member of an object.
    package struct Member: Sendable {
        /// The key.
        package var key: String
        /// Where the key stands.
        package var keyPosition: Position
        /// The value.
        package var value: ConfigurationNode

        /// Creates a member.
        package init(key: String, keyPosition: Position, value: ConfigurationNode) {
            self.key = key
            self.keyPosition = keyPosition
            self.value = value
        }
    }

    /// The value.
    package var value: Value
    /// Where it begins.
    package var position: Position
    /// The way to it from the top.
    package let place: ConfigurationPath

    /// Its path from the top, such as `rules[2].when.kind`.
    package var path: String { place.text }

    /// Creates a node.
    package init(_ value: Value, at position: Position, path: ConfigurationPath) {
        self.value = value
        self.position = position
        place = path
    }

    /// Creates a node whose path is given as text.
    package init(_ value: Value, at position: Position, path: String) {
        self.init(value, at: position, path: ConfigurationPath(root: path))
    }

    /// What kind of value it is, in words for a message: `a string`, `an object`.
    package var kind: String {
        switch value {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// Returns the text of a string, or reports that `expected` belongs here and returns nil.
    package func string(_ problems: Problems, expected: String = "a string") -> String? {
        if case .string(let text) = value { return text }
        problems.add(at: self, "expected \(expected), found \(kind)")
        return nil
    }

    /// Returns a boolean, or reports a problem and returns nil.
    package func bool(_ problems: Problems) -> Bool? {
        if case .bool(let flag) = value { return flag }
        problems.add(at: self, "expected true or false, found \(kind)")
        return nil
    }

    /// Returns an integer within `range`, or reports a problem and returns nil.
    package func integer(_ problems: Problems, in range: ClosedRange<Int>) -> Int? {
        if case .number(let text) = value, let number = Int(text), range.contains(number) { return number }
        problems.add(
            at: self, "expected a whole number from \(range.lowerBound) to \(range.upperBound), found \(shown)")
        return nil
    }

    /// Returns a duration such as `90s` or `1h30m` within `range`, or reports a problem and returns nil.
    package func duration(_ problems: Problems, in range: ClosedRange<Duration>) -> Duration? {
        guard let text = string(problems, expected: "a duration such as \"90s\" or \"1h30m\"") else { return nil }
        guard let duration = DurationText.parse(text) else {
            problems.add(
                at: self, "\(Shown.quoted(text)) is no duration; write it like \"90s\", \"15m\", \"1h30m\" or \"2d\"")
            return nil
        }
        guard range.contains(duration) else {
            problems.add(
                at: self,
                "must be from \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))")
            return nil
        }
        return duration
    }

    /// Returns a size such as `200MB` in bytes, within `range`, or reports a problem and returns nil.
    package func size(_ problems: Problems, in range: ClosedRange<Int>) -> Int? {
        guard let text = string(problems, expected: "a size such as \"200MB\"") else { return nil }
        guard let bytes = SizeText.parse(text) else {
            problems.add(at: self, "\(Shown.quoted(text)) is no size; write it like \"64kB\", \"200MB\" or \"1GB\"")
            return nil
        }
        guard range.contains(bytes) else {
            problems.add(
                at: self,
                "must be from \(SizeText.format(range.lowerBound)) to \(SizeText.format(range.upperBound))")
            return nil
        }
        return bytes
    }

    /// Returns the values of an array, or of a single value an array of one.
    package var list: [ConfigurationNode] {
        if case .array(let values) = value { return values }
        return [self]
    }

    private var shown: String {
        if case .number(let text) = value { return text.utf8.count > 40 ? "a longer number" : text }
        return kind
    }
}
