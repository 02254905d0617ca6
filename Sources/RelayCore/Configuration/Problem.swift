/// A place in a configuration file.
package struct Position: Sendable, Hashable, Comparable {
    /// The line, from 1.
    package var line: Int
    /// The column in characters (Unicode scalars), from 1.
    package var column: Int

    /// Creates a position.
    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static func < (left: Position, right: Position) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// One thing that is wrong with a configuration file, or looks wrong.
package struct Problem: Sendable, Hashable {
    /// Whether the file is refused for it.
    package enum Severity: String, Sendable {
        case error, warning
    }

    /// Whether the file is refused for it.
    package var severity: Severity
    /// Where it is.
    package var position: Position
    /// The path of the value, such as `rules[2].when.kind`; empty for the file as a whole.
    package var path: String
    /// What is wrong and what to do, in one sentence without a full stop.
    package var message: String

    /// Creates a problem.
    package init(_ severity: Severity, at position: Position, path: String, message: String) {
        self.severity = severity
        self.position = position
        self.path = path
        self.message = message
    }

    /// The line that a person reads: `file:line:column: path: message`, with `warning: ` before a warning's path.
    package func line(file: String) -> String {
        let warning = severity == .warning ? "warning: " : ""
        let place = path.isEmpty ? "" : "\(path): "
        return Shown.printable("\(file):\(position.line):\(position.column): \(warning)\(place)\(message)")
    }
}

/// Collects every problem of one file, so that all are told together.
package final class Problems {
    /// The most problems that are kept; nobody reads more, and a broken file of 16 MiB can hold millions.
    package static let most = 1000

    /// The problems so far, in the order found.
    package private(set) var all: [Problem] = []
    /// How many more there were.
    package private(set) var omitted = 0

    /// The secrets that the file names, with the places where it does.
    package private(set) var secrets: [(source: SecretSource, node: ConfigurationNode)] = []

    /// The objects that were read and the keys that they may have, in the order read, if that is recorded.
    package private(set) var objects: [(node: ConfigurationNode, keys: [String])] = []
    private let recordsObjects: Bool

    /// Creates an empty collection; a test lets it record the objects that are read, to compare them with the schema.
    package init(recordingObjects: Bool = false) {
        recordsObjects = recordingObjects
    }

    /// The number of problems for which the file is refused.
    package private(set) var errorCount = 0

    /// Whether the file is refused.
    package var hasErrors: Bool { errorCount > 0 }

    /// Adds a problem with the value `node`.
    package func add(_ severity: Problem.Severity = .error, at node: ConfigurationNode, _ message: String) {
        add(Problem(severity, at: node.position, path: node.path, message: message))
    }

    /// Adds a problem.
    package func add(_ problem: Problem) {
        if problem.severity == .error { errorCount += 1 }
        if all.count < Self.most { all.append(problem) } else { omitted += 1 }
    }

    /// Notes which keys an object may have.
    func note(_ keys: [String], of node: ConfigurationNode) {
        if recordsObjects { objects.append((node, keys)) }
    }

    /// Notes where a secret is named.
    func note(_ source: SecretSource, at node: ConfigurationNode) {
        if secrets.count < Self.most { secrets.append((source, node)) }
    }

    /// The problems in the order of the file.
    package var sorted: [Problem] { all.sorted { $0.position < $1.position } }

    /// The lines that a person reads, in the order of the file; the last one counts what is not told.
    package func lines(file: String) -> [String] {
        let more = omitted > 0 ? [Shown.printable("\(file): \(omitted) more problems are not shown")] : []
        return sorted.map { $0.line(file: file) } + more
    }
}
