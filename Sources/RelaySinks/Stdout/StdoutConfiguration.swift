package import RelayCore

/// The keys of a sink of the type `stdout`.
package struct StdoutConfiguration: Sendable, Equatable {
    /// How a line looks.
    package enum Format: String, Sendable, CaseIterable {
        /// A JSON object, see `NoticeLine`.
        case json
        /// A line for people, see `TextLine`.
        case text
    }

    /// What happens to lines for which the queue has no room.
    package enum WhenFull: String, Sendable, CaseIterable {
        /// Reading pauses until there is room.
        case wait
        /// The newest lines go and are counted.
        case drop
    }

    /// How a line looks.
    package var format: Format
    /// What happens when the queue is full; nil if the file leaves it to whether this is the only sink.
    package var whenFull: WhenFull?

    /// Creates a configuration.
    package init(format: Format = .json, whenFull: WhenFull? = nil) {
        self.format = format
        self.whenFull = whenFull
    }

    /// Takes the keys of this type; reports what is wrong and uses the defaults for it.
    package static func read(_ reader: inout ObjectReader) -> StdoutConfiguration {
        var configuration = StdoutConfiguration()
        if let node = reader.optional("format"), let format: Format = choice(node, reader.problems) {
            configuration.format = format
        }
        if let node = reader.optional("whenFull") {
            configuration.whenFull = choice(node, reader.problems)
        }
        return configuration
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ node: ConfigurationNode, _ problems: Problems
    ) -> Choice? {
        guard let text = node.string(problems) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        let list = names.map { "\"\($0)\"" }.joined(separator: " or ")
        let suggestion = NearestName.suggestion(for: text, among: names)
        problems.add(at: node, "expected \(list), found \"\(text)\"\(suggestion)")
        return nil
    }
}
