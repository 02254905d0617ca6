internal import GLibRuntime
internal import RelayCore
internal import RelayStream
internal import WebSocketCodec

/// `demo`: relays made-up events with the example rules, or a real stream with `--url`.
struct DemoCommand {
    private let arguments: ParsedArguments

    /// The name under which the demo's own token is found; no variable of the process has it.
    private static let tokenVariable = "the demo's token"

    /// Takes the arguments of the command.
    init(_ arguments: ParsedArguments) {
        self.arguments = arguments
    }

    /// Relays until all events are through, or until a signal.
    ///
    /// - Throws: `CommandFault` for wrong options (64), wrong rules (78), or no port to listen on (1).
    func run() async throws(CommandFault) -> ExitCode {
        let count = try number("events", standard: 30, in: 1...1_000_000)
        let rate = try number("rate", standard: 3, in: 0.01...10_000)
        let clock = SystemClock()
        let (file, example) = try rules()
        guard let url = arguments.options["url"] else {
            guard !arguments.has("token-env") else { throw CommandFault(.usage, "--token-env goes with --url") }
            return try await CommandLog.open(arguments, clock: clock) { log throws(CommandFault) in
                try await Self.runMadeUp(count, rate, example, folder: file.folder, clock, log)
            }
        }
        let configuration = try Self.pointed(
            example, at: url, token: arguments.options["token-env"].map { .environment($0) })
        return try await CommandLog.open(arguments, clock: clock) { log throws(CommandFault) in
            let parts = Relay.Parts(
                configuration: configuration, secrets: SecretReader(folder: file.folder), clock: clock, log: log)
            return try await RelaySession(parts).run()
        }
    }

    /// Relays `count` events from a server of our own.
    @MainLoop
    private static func runMadeUp(
        _ count: Int, _ rate: Double, _ example: RelayConfiguration, folder: String, _ clock: any RelayClock,
        _ log: Log
    ) async throws(CommandFault) -> ExitCode {
        let token = Base64.encode((0..<24).map { _ in UInt8.random(in: .min ... .max) })
        let server: DemoServer
        do throws(GLibError) {
            server = try DemoServer(token: Secret(token), count: count, rate: rate, clock: clock)
        } catch {
            throw CommandFault(.failed, "the demo's server cannot listen: \(error)")
        }
        let configuration = try pointed(example, at: server.url, token: .environment(tokenVariable))
        log(.info, "demo", "a server of the demo's own sends \(count) events", [("url", server.url)])
        let allCame = Doorbell()
        let parts = Relay.Parts(
            configuration: configuration,
            secrets: SecretReader(folder: folder) { name in
                name == tokenVariable ? token : SecretReader.processEnvironment(name)
            }, clock: clock, log: log,
            onEvents: { if $0 >= count { allCame.ring() } })
        return try await relay(parts, from: server, until: allCame, log)
    }

    /// Runs the server and the relay together, until all events came or a signal ends the relay.
    @MainLoop
    private static func relay(
        _ parts: Relay.Parts, from server: DemoServer, until allCame: Doorbell, _ log: Log
    ) async throws(CommandFault) -> ExitCode {
        let holder = RelayHolder()
        let result = await withTaskGroup(of: Void.self) { group in
            group.addLoopTask { await server.run() }
            group.addLoopTask {
                await allCame.wait()
                holder.relay?.stop()
            }
            let result: Result<ExitCode, CommandFault>
            do throws(CommandFault) {
                result = .success(
                    try await RelaySession(parts).run { holder.relay = $0 })
            } catch {
                result = .failure(error)
            }
            group.cancelAll()
            return result
        }
        server.close()
        return try result.get()
    }

    /// Holds the relay for the task that ends it.
    @MainLoop
    private final class RelayHolder {
        var relay: Relay?
    }

    /// Returns the rules to relay by: the file of `--rules`, or the example.
    private func rules() throws(CommandFault) -> (RulesFile, RelayConfiguration) {
        if let path = arguments.options["rules"] {
            let (file, configuration, _) = try CommandRules.load(path)
            return (file, configuration)
        }
        let file = RulesFile(path: "rules.example.json", text: PackageResources.rules_example_json)
        do throws(RulesFile.Fault) {
            return (file, try file.configuration().0)
        } catch {
            throw CommandFault(.configuration, error.lines)
        }
    }

    /// Returns the configuration with its first stream at `url`, and without the others.
    private static func pointed(
        _ configuration: RelayConfiguration, at url: String, token: SecretSource?
    ) throws(CommandFault) -> RelayConfiguration {
        guard var stream = configuration.streams.first else {
            throw CommandFault(.configuration, "the rules have no stream")
        }
        let address: WebSocketURL
        do throws(URLFault) {
            address = try WebSocketURL(url)
        } catch {
            throw CommandFault(.usage, "--url: \(error)")
        }
        guard address.secure || address.isLoopback else {
            throw CommandFault(.usage, "--url: ws:// would send the token in the clear; use wss://")
        }
        stream.connection.url = address
        stream.connection.token = token
        var changed = configuration
        changed.streams = [stream]
        return changed
    }

    private func number<Number: LosslessStringConvertible & Comparable>(
        _ option: String, standard: Number, in range: ClosedRange<Number>
    ) throws(CommandFault) -> Number {
        guard let text = arguments.options[option] else { return standard }
        guard let value = Number(text), range.contains(value) else {
            throw CommandFault(
                .usage, "--\(option) is a number from \(range.lowerBound) to \(range.upperBound), not \(text)")
        }
        return value
    }
}
