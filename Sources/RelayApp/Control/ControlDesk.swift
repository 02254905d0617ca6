internal import GLibRuntime
internal import RelayCore
internal import RelayJournal

/// Where a command's request is answered: by the running relay, or by the journal itself if none runs.
struct ControlDesk {
    private let arguments: ParsedArguments

    /// Looks where `--state` and `--no-state` say, else in the usual places.
    init(_ arguments: ParsedArguments) {
        self.arguments = arguments
    }

    /// Returns the answer to a request.
    ///
    /// - Throws: `CommandFault` (1) if there is neither a relay nor a journal, or if the request is refused.
    func ask(_ request: JSONValue) async throws(CommandFault) -> ConfigurationNode {
        let client = try ControlClient(arguments)
        if client.findsRelay || arguments.has("no-state") { return try client.ask(request) }
        let answer = try await JournalPlace.changing(arguments) { journal, configuration in
            await Self.answer(request, journal, configuration)
        }
        return try ControlClient.checked(answer.line)
    }

    @MainLoop
    private static func answer(
        _ request: JSONValue, _ journal: SQLiteJournal, _ configuration: RelayConfiguration
    ) async -> JSONValue {
        let answers = JournalAnswers(
            journal, clock: SystemClock(), log: .silent, configuration: { configuration })
        return await answers.answer(to: request.line) ?? .null
    }
}
