internal import GLibRuntime
internal import RelayCore
internal import RelayJournal

/// Where a command has the outbox changed: by the running relay, or in the journal itself if none runs.
struct OutboxDesk {
    private let arguments: ParsedArguments

    /// Looks where `--state` says, else in the usual place.
    init(_ arguments: ParsedArguments) {
        self.arguments = arguments
    }

    /// Sends deliveries again, or drops them; returns how many.
    ///
    /// - Throws: `CommandFault` (1) if the relay refuses, or there is no journal.
    func change(
        _ action: String, _ selection: OutboxSelection, to sink: String?, at now: Instant
    ) async throws(CommandFault) -> Int {
        let client = try ControlClient(arguments)
        if client.findsRelay { return try ask(client, action, selection, to: sink) }
        return try await JournalPlace.changing(arguments, at: Moment(now)) { journal throws(CommandFault) in
            do throws(JournalFailure) {
                return action == "drop"
                    ? try await journal.drop(selection, at: now)
                    : try await journal.retry(selection, to: sink, at: now)
            } catch {
                throw CommandFault(.failed, error.description)
            }
        }
    }

    private func ask(
        _ client: ControlClient, _ action: String, _ selection: OutboxSelection, to sink: String?
    ) throws(CommandFault) -> Int {
        var request: [(name: String, value: JSONValue)] = [("request", .string("outbox.\(action)"))]
        if let sink = selection.sink { request.append(("sink", .string(sink))) }
        if let serials = selection.serials {
            request.append(("ids", .array(serials.sorted().map { .number(Int(clamping: $0)) })))
        }
        if let acceptedBy = selection.acceptedBy { request.append(("acceptedBy", .time(acceptedBy))) }
        if let isDead = selection.isDead { request.append(("dead", .bool(isDead))) }
        if let sink { request.append(("to", .string(sink))) }
        let answer = try client.ask(.object(request))
        return answer["count"]?.text.flatMap { Int($0) } ?? 0
    }
}
