/// How much a diagnostic matters.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
    case error, warning, info, debug, trace

    package static func < (left: LogLevel, right: LogLevel) -> Bool {
        let order = LogLevel.allCases
        return (order.firstIndex(of: left) ?? 0) < (order.firstIndex(of: right) ?? 0)
    }
}

/// Writes diagnostics, one line each: a level, the room that speaks, a sentence, and fields.
///
/// Values may hold text from the network: the writer shows control characters as `\u{..}`, so that no line can be
/// forged and no terminal moved, and cuts them at 200 characters. Secrets cannot get in: `Secret` prints `<redacted>`.
package struct Log: Sendable {
    /// How a line looks.
    package enum Format: String, Sendable, CaseIterable {
        case logfmt, json
    }

    /// One diagnostic, before it is written.
    package struct Entry: Sendable {
        /// How much it matters.
        package var level: LogLevel
        /// The room that speaks, such as `stream`.
        package var room: String
        /// What happened, in one sentence.
        package var message: String
        /// Facts by name, in order.
        package var fields: [(name: String, value: String)]

        /// Creates an entry.
        package init(level: LogLevel, room: String, message: String, fields: [(name: String, value: String)] = []) {
            self.level = level
            self.room = room
            self.message = message
            self.fields = fields
        }
    }

    /// The least important level that is written.
    package let level: LogLevel
    private let write: @Sendable (Entry) -> Void

    /// Creates a log that hands every entry of `level` or more important to `write`.
    package init(level: LogLevel, write: @escaping @Sendable (Entry) -> Void) {
        self.level = level
        self.write = write
    }

    /// A log that writes nothing.
    package static let silent = Log(level: .error) { _ in }

    /// Writes one entry.
    package func callAsFunction(
        _ level: LogLevel, _ room: String, _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> [(name: String, value: String)] = []
    ) {
        guard level <= self.level else { return }
        write(Entry(level: level, room: room, message: message(), fields: fields()))
    }
}
