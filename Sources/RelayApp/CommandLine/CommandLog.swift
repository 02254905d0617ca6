internal import GLibRuntime
internal import RelayCore
internal import RelaySinks

/// The diagnostics of a command on standard error, written by a thread of its own.
struct CommandLog: Sendable {
    private let log: Log
    private let queue: LineQueue
    private let clock: any RelayClock

    /// What may wait for a reader of standard error; newer lines are dropped then.
    private static let capacity = 1 << 20

    /// Runs `body` with a log as `--log-level` and `--log-format` say; all is written when it returns or throws.
    static func open(
        _ arguments: ParsedArguments, clock: any RelayClock,
        body: (Log) async throws(CommandFault) -> ExitCode
    ) async throws(CommandFault) -> ExitCode {
        let log = try CommandLog(arguments, clock: clock)
        let result: Result<ExitCode, CommandFault>
        do throws(CommandFault) {
            result = .success(try await body(log.log))
        } catch {
            result = .failure(error)
        }
        await log.flush()
        return try result.get()
    }

    private init(_ arguments: ParsedArguments, clock: any RelayClock) throws(CommandFault) {
        let level = try Self.choice(arguments, "log-level", standard: LogLevel.info)
        let format = try Self.choice(arguments, "log-format", standard: Log.Format.logfmt)
        let queue = LineQueue(descriptor: 2, capacity: Self.capacity, whenFull: .drop) { _ in }
        let line = LogLine(format: format)
        log = Log(level: level) { queue.append(line.bytes(of: $0, at: clock.wallNow()), lines: 1) }
        self.queue = queue
        self.clock = clock
    }

    /// Waits, for at most a second, until all is written.
    private func flush() async {
        await queue.flush(until: clock.now() + .seconds(1), clock: clock)
        queue.close()
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ arguments: ParsedArguments, _ option: String, standard: Choice
    ) throws(CommandFault) -> Choice {
        guard let text = arguments.options[option] else { return standard }
        if let choice = Choice(rawValue: text) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        let suggestion = NearestName.suggestion(for: text, among: names)
        throw CommandFault(
            .usage, "--\(option) is one of \(names.joined(separator: ", ")), not \(Shown.quoted(text))\(suggestion)")
    }
}
