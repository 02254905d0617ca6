internal import GLibRuntime
internal import Glibc
internal import RelayCore
internal import RelayJournal
internal import RelayRules

/// The state directory of a command, and the journal in it.
enum JournalPlace {
    /// Returns the directory: `--state`, else the usual one.
    ///
    /// - Throws: `CommandFault` (64, 1) for `--no-state`, or if the environment names no place.
    static func directory(
        _ arguments: ParsedArguments, environment: (String) -> String? = SecretReader.processEnvironment
    ) throws(CommandFault) -> String {
        if arguments.has("no-state") {
            throw CommandFault(
                .usage,
                arguments.has("state")
                    ? "--state and --no-state exclude each other"
                    : "a relay with --no-state keeps no journal to look into")
        }
        if let path = arguments.options["state"] ?? StateDirectory.usualPath(environment) { return path }
        throw CommandFault(
            .failed,
            "there is no place for a state directory, since neither $STATE_DIRECTORY, $XDG_STATE_HOME nor $HOME is set; "
                + "name one with --state, or keep everything in memory with --no-state")
    }

    /// Opens the journal of a directory that was taken, with the rules of a file.
    ///
    /// - Throws: `CommandFault` (1) if it cannot be used.
    static func open(
        _ place: ControlPlace, _ configuration: RelayConfiguration, at now: Moment
    ) async throws(CommandFault) -> (journal: SQLiteJournal, notes: [JournalNote]) {
        let options = JournalOptions(folder: place.directory, program: Version.number)
        do throws(DatabaseFault) {
            return try await SQLiteJournal.open(
                options, plan: configuration.rules.plan, history: configuration.history, at: now)
        } catch {
            throw CommandFault(.failed, "the journal cannot be used: \(error)")
        }
    }

    /// Reads the journal, beside a relay or without one.
    ///
    /// - Throws: `CommandFault` (1) if there is none, or it cannot be read.
    static func reading<Result>(
        _ arguments: ParsedArguments, _ body: (JournalReader) throws(JournalReader.Fault) -> Result
    ) throws(CommandFault) -> Result {
        let reader = try reader(arguments)
        return try told { () throws(JournalReader.Fault) in try body(reader) }
    }

    /// Opens the journal to read, beside a relay or without one.
    ///
    /// - Throws: `CommandFault` (1) if there is none, or it cannot be read.
    static func reader(_ arguments: ParsedArguments) throws(CommandFault) -> JournalReader {
        let directory = try directory(arguments)
        return try told { () throws(JournalReader.Fault) in try JournalReader(folder: directory) }
    }

    /// Turns what stands in the way of reading into the end of the command.
    static func told<Result>(_ body: () throws(JournalReader.Fault) -> Result) throws(CommandFault) -> Result {
        do throws(JournalReader.Fault) {
            return try body()
        } catch {
            throw CommandFault(.failed, Shown.printable(error.description))
        }
    }

    /// Opens the journal that no relay has, for a command that changes it.
    ///
    /// - Throws: `CommandFault` (1) if a relay has it, or there is none or no rules file (78).
    static func changing<Result: Sendable>(
        _ arguments: ParsedArguments, _ body: (SQLiteJournal, RelayConfiguration) async -> Result
    ) async throws(CommandFault) -> Result {
        let directory = try directory(arguments)
        guard access(JournalOptions.path(in: directory), F_OK) == 0 else {
            throw CommandFault(.failed, "no relay is running, and \(directory) holds no journal")
        }
        let (_, configuration, _) = try CommandRules.load(try CommandRules.path(option: arguments.options["rules"]))
        let place = try ControlPlace.take(state: directory)
        let (journal, notes) = try await open(place, configuration, at: SystemClock().moment())
        for note in notes { Console.complain(Shown.printable("chirp-relay: \(note)")) }
        let result = await body(journal, configuration)
        await journal.close()
        withExtendedLifetime(place) {}
        return result
    }
}
