/// An option of a command, in GNU style: `--name` or `--name VALUE` or `--name=VALUE`.
struct OptionSpec: Sendable {
    /// The name without the dashes.
    var name: String
    /// What the value is, such as `FILE`; nil for a switch.
    var value: String?
    /// What it does, in one line.
    var help: String

    /// The option as it stands in the help text.
    var shown: String { "--\(name)" + (value.map { " \($0)" } ?? "") }
}

/// What a command takes, for the parser and for its help text.
struct CommandSpec: Sendable {
    /// The name.
    var name: String
    /// What it does, in one line.
    var summary: String
    /// The operand, such as `[FILE]`; nil if it takes none.
    var operand: String?
    /// How many operands it takes, if any.
    var mostOperands = 1
    /// Its options, besides `--help`.
    var options: [OptionSpec]
    /// What else a user should know.
    var notes: String

    /// The help text of the command.
    var help: String {
        let rows = (options + [Self.helpOption]).map { ($0.shown, $0.help) }
        return """
            Usage: chirp-relay \(name)\(options.isEmpty ? "" : " [OPTION]...")\(operand.map { " \($0)" } ?? "")

            \(summary)

            Options:
            \(Self.table(rows))

            \(notes)
            """
    }

    static let helpOption = OptionSpec(name: "help", value: nil, help: "Show this help")

    /// Two aligned columns.
    static func table(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { "  \($0.0)\(String(repeating: " ", count: width - $0.0.count))  \($0.1)" }
            .joined(separator: "\n")
    }
}
