internal import GLibRuntime
internal import RelayCore

/// What a running relay answers to the requests of commands.
///
/// A request is an object with `request` and what belongs to it; an answer has `ok`, and `error` if that is false.
@MainLoop
final class ControlAnswers {
    private unowned let relay: Relay
    private let answers: JournalAnswers

    /// Creates the answers of a relay.
    init(_ relay: Relay) {
        self.relay = relay
        answers = JournalAnswers(
            relay.journal, clock: relay.parts.clock, log: relay.parts.log,
            configuration: { [unowned relay] in relay.configuration },
            silencesChanged: { [unowned relay] in await relay.silencesChanged() },
            recentEvents: { [unowned relay] in relay.recentPages(of: $0, in: $1) },
            startSinks: { [unowned relay] in await relay.startSinks($0) })
    }

    /// Answers one request.
    func answer(to line: [UInt8]) async -> JSONValue {
        guard let answer = await answers.answer(to: line) else { return await StatusAnswer(relay).value() }
        return answer
    }
}
