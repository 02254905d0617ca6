internal import GLibRuntime
internal import HTTPClient
internal import RelayCore
internal import RelayJournal
internal import RelayRules
internal import RelaySinks
internal import RelayStream

/// A running relay: streams, rules, journal, workers and sinks, wired up.
///
/// One task group owns every long task. Shutdown goes in one order: reading stops, what was read is accepted, the
/// workers deliver what is due within a grace period, the queues of standard output and error are flushed.
@MainLoop
final class Relay {
    /// What a relay is made of.
    struct Parts {
        /// What the rules file says.
        var configuration: RelayConfiguration
        /// Reads secrets, relative to the folder of the rules file.
        var secrets: SecretReader
        /// The time.
        var clock: any RelayClock
        /// Takes diagnostics.
        var log: Log
        /// Where the `stdout` sink writes.
        var standardOutput: Int32 = 1
        /// Told how many events of a stream have been decided, after every read that brought some.
        var onEvents: (@MainLoop (Int) -> Void)?
        /// How long the workers may go on after reading has stopped.
        var grace = Duration.seconds(5)
    }

    private let parts: Parts
    private let journal: any Journal
    private let accepter: Accepter
    private let output: StandardOutput?
    private let sinks: [any Sink]
    private let flows: [EventFlow]
    private let readers: [StreamReader]
    private let workers: [OutboxWorker]
    private let stopBell = Doorbell()
    private var exitCode = ExitCode.done
    private var pressure = Pressure()

    /// Wires up a relay; reads the secrets of its sinks.
    ///
    /// - Throws: `SecretFailure` if a secret of a sink cannot be read.
    init(_ parts: Parts) async throws(SecretFailure) {
        self.parts = parts
        let (configuration, clock, log) = (parts.configuration, parts.clock, parts.log)
        let plan = configuration.rules.plan
        let journal = MemoryJournal(plan: plan)
        self.journal = journal
        let accepter = Accepter(journal: journal, plan: plan, clock: clock, log: log)
        self.accepter = accepter
        let output = StandardOutput(configuration.sinks, descriptor: parts.standardOutput, log: log)
        self.output = output
        let factory = SinkFactory(secrets: parts.secrets, clock: clock, log: log, output: output)
        var sinks: [any Sink] = []
        var outlets: [EventFlow.Outlet] = []
        for sink in configuration.sinks {
            if case .stdout = sink.kind, !sink.isDurable, let output {
                outlets.append(.lines(output.lines))
            } else {
                outlets.append(.journal)
                sinks.append(try await factory.make(sink))
            }
        }
        self.sinks = sinks
        flows = configuration.streams.map {
            EventFlow(
                $0, rules: configuration.rules, outlets: outlets, accepter: accepter, clock: clock, log: log,
                onEvents: parts.onEvents)
        }
        let transport = SocketTransport()
        readers = zip(configuration.streams, flows).map { stream, flow in
            StreamReader(
                stream.connection, handler: flow,
                surroundings: .init(secrets: parts.secrets, clock: clock, log: log, transport: transport))
        }
        workers = sinks.map { OutboxWorker(sink: $0, journal: journal, clock: clock, log: log) }
        accepter.onPressure = { [weak self] in self?.press(.commits, $0) }
        output?.onFull = { [weak self] in self?.press(.standardOutput, $0) }
        output?.onOff = { [weak self] in self?.standardOutputIsOff() }
    }

    /// Relays until `stop()`, or until nothing can be delivered any more.
    func run() async -> ExitCode {
        await withTaskGroup(of: Void.self) { group in
            for worker in workers { group.addLoopTask { await worker.run() } }
            group.addLoopTask { [accepter] in await accepter.run() }
            await runStreams()
            accepter.finish()
            await drain(&group)
        }
        await output?.flush(within: .seconds(1), clock: parts.clock)
        for sink in sinks { await sink.close() }
        await tellCounters()
        await journal.close()
        return exitCode
    }

    /// Begins the shutdown.
    func stop(_ code: ExitCode = .done) {
        exitCode = code
        stopBell.ring()
    }

    /// Holds the streams until `stop()`.
    private func runStreams() async {
        await withTaskGroup(of: Void.self) { group in
            for reader in readers { group.addLoopTask { await reader.run() } }
            await stopBell.wait()
            group.cancelAll()
        }
    }

    /// Waits for the accepter and the workers to finish what is due, for at most the grace period.
    private func drain(_ group: inout TaskGroup<Void>) async {
        let deadline = parts.clock.now() + parts.grace
        // The workers and the accepter; beside them the group has the deadline, which ends the loop by its time.
        var left = workers.count + 1
        let clock = parts.clock
        group.addTask { try? await clock.sleep(until: deadline) }
        await accepter.finished.wait()
        for worker in workers { await worker.drain() }
        while left > 0, parts.clock.now() < deadline {
            await group.next()
            left -= 1
        }
        group.cancelAll()
    }

    // MARK: What happens meanwhile

    private func press(_ source: Pressure.Source, _ isOn: Bool) {
        guard pressure.set(source, isOn) else { return }
        for reader in readers {
            if pressure.isOn { reader.pause() } else { reader.resume() }
        }
    }

    private func standardOutputIsOff() {
        guard parts.configuration.sinks.count == 1 else { return }
        parts.log(.error, "stdout", "standard output is gone and there is no other sink")
        stop(.failed)
    }

    private func tellCounters() async {
        let receipts = Receipt.allCases.map { receipt in
            (name: receipt.rawValue, value: String(flows.reduce(0) { $0 + $1.counters.receipts[receipt, default: 0] }))
        }
        let events = flows.reduce(0) { $0 + $1.counters.events }
        let repeats = flows.reduce(0) { $0 + $1.counters.duplicates }
        parts.log(
            .info, "relay", "stopped",
            [("events", String(events)), ("repeated", String(repeats))] + receipts.filter { $0.value != "0" })
        var counters = await journal.counters()
        if let output { counters[output.name, default: SinkCounters()].add(output.counters) }
        for (sink, counters) in counters.sorted(by: { $0.key < $1.key }) {
            parts.log(counters.pending > 0 ? .warning : .info, "relay", "counted", [("sink", sink)] + counters.fields)
        }
    }
}

/// Why the streams do not read.
struct Pressure {
    /// Something that can be full.
    enum Source: Hashable {
        case commits, standardOutput
    }

    private var sources: Set<Source> = []

    /// Whether anything is full.
    var isOn: Bool { !sources.isEmpty }

    /// Notes that `source` is full or not; returns whether that changes `isOn`.
    mutating func set(_ source: Source, _ isFull: Bool) -> Bool {
        let before = isOn
        if isFull { sources.insert(source) } else { sources.remove(source) }
        return isOn != before
    }
}
