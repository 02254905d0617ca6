internal import GLibRuntime
internal import RelayCore
internal import RelayJournal
internal import RelayRules

/// `run`: holds the streams until a signal ends it.
struct RunCommand {
    private let arguments: ParsedArguments

    /// Takes the arguments of the command.
    init(_ arguments: ParsedArguments) {
        self.arguments = arguments
    }

    /// Relays until SIGTERM or SIGINT.
    ///
    /// - Throws: `CommandFault` for wrong options (64), a wrong rules file or a missing secret (78), or a state
    ///   directory that was asked for and cannot be had (1).
    func run() async throws(CommandFault) -> ExitCode {
        if arguments.has("state"), arguments.has("no-state") {
            throw CommandFault(.usage, "--state and --no-state exclude each other")
        }
        let clock = SystemClock()
        return try await CommandLog.open(arguments, clock: clock) { log throws(CommandFault) in
            try await run(clock, log)
        }
    }

    private func run(_ clock: any RelayClock, _ log: Log) async throws(CommandFault) -> ExitCode {
        let path = try CommandRules.path(option: arguments.options["rules"])
        let (file, configuration, warnings) = try CommandRules.load(path)
        for warning in warnings { log(.warning, "rules", warning.line(file: path)) }
        var parts = Relay.Parts(
            configuration: configuration, secrets: SecretReader(folder: file.folder), clock: clock, log: log,
            // What is read from standard input cannot be read again.
            rulesPath: path == CommandRules.standardInput ? nil : path)
        try await takeState(&parts)
        return try await RelaySession(parts).run { _ in
            log(
                .info, "relay", "starting",
                [
                    ("version", Version.number), ("rulesFile", path), ("streams", String(configuration.streams.count)),
                    ("sinks", String(configuration.sinks.count)), ("rules", String(configuration.rules.rules.count)),
                ])
        }
    }

    /// Opens the journal in the state directory, which is also where commands reach the relay; without one there is a
    /// place in the session for them.
    private func takeState(_ parts: inout Relay.Parts) async throws(CommandFault) {
        let log = parts.log
        if arguments.has("no-state") {
            log(.info, "journal", "in memory, as asked for: nothing is kept over a restart")
            parts.controlPlace = ControlPlace.takeRuntimeDirectory(SecretReader.processEnvironment, log)
            return
        }
        let place = try ControlPlace.take(state: try JournalPlace.directory(arguments))
        parts.controlPlace = place
        let (journal, notes) = try await JournalPlace.open(place, parts.configuration, at: parts.clock.moment())
        for note in notes { log(.warning, "journal", note.description) }
        log(.info, "journal", "on disk", [("state", place.directory)])
        parts.store = journal
    }
}
