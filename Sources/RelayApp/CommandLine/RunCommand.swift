internal import GLibRuntime
internal import RelayCore
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
        let place = try controlPlace(state: try prepareState(log), log)
        // What is read from standard input cannot be read again.
        let rulesPath = path == CommandRules.standardInput ? nil : path
        let parts = Relay.Parts(
            configuration: configuration, secrets: SecretReader(folder: file.folder), clock: clock, log: log,
            rulesPath: rulesPath, controlPlace: place)
        return try await RelaySession(parts).run { _ in
            log(
                .info, "relay", "starting",
                [
                    ("version", Version.number), ("rulesFile", path), ("streams", String(configuration.streams.count)),
                    ("sinks", String(configuration.sinks.count)), ("rules", String(configuration.rules.rules.count)),
                ])
        }
    }

    /// Takes the place at which commands reach the relay: the state directory, else that of the session.
    private func controlPlace(state: String?, _ log: Log) throws(CommandFault) -> ControlPlace? {
        if let state { return try ControlPlace.take(state: state, log) }
        return ControlPlace.takeRuntimeDirectory(SecretReader.processEnvironment, log)
    }

    /// Makes the state directory, and says where the journal is.
    ///
    /// - Returns: the directory, or nil if there is none.
    private func prepareState(_ log: Log) throws(CommandFault) -> String? {
        let notKept = "nothing is kept over a restart"
        guard !arguments.has("no-state") else {
            log(.info, "journal", "in memory, as asked for: \(notKept)")
            return nil
        }
        let asked = arguments.options["state"]
        guard let path = asked ?? StateDirectory.usualPath(SecretReader.processEnvironment) else {
            log(.warning, "journal", "in memory, since there is no place for a state directory: \(notKept)")
            return nil
        }
        if let reason = StateDirectory.make(path) {
            let sentence = "the state directory \(path) cannot be used: \(reason)"
            if asked != nil { throw CommandFault(.failed, "\(sentence); choose another, or take --no-state") }
            log(.warning, "journal", "\(sentence); in memory instead: \(notKept)")
            return nil
        }
        log(.info, "journal", "in memory in this version: \(notKept)", [("state", path)])
        return path
    }
}
