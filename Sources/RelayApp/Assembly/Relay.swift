internal import GLibRuntime
internal import RelayCore
internal import RelayJournal
internal import RelayRules
internal import RelayStream

/// A running relay: streams, rules, journal, workers and sinks, wired up.
///
/// One task group owns every long task. Shutdown goes in one order: reading stops, what was read is accepted, digests and
/// briefings close, the workers deliver what is due within a grace period, the queue of standard output is flushed.
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
        /// Where the rules can be read again; nil if that is nowhere.
        var rulesPath: String?
        /// The journal on disk; nil: a journal in memory, which the process takes with it.
        var store: SQLiteJournal?
        /// Where commands reach the relay; nil if nowhere.
        var controlPlace: ControlPlace?
        /// Where the `stdout` sink writes.
        var standardOutput: Int32 = 1
        /// Told how many events of a stream have been decided, after every read that brought some.
        var onEvents: (@MainLoop (Int) -> Void)?
        /// How long the workers may go on after reading has stopped.
        var grace = Duration.seconds(5)
    }

    let parts: Parts
    let journal: any Journal
    let streams: StreamSet
    let sinks: SinkSet
    /// What the rules file in force says, and when it came into force.
    private(set) var configuration: RelayConfiguration
    private(set) var inForceSince: Instant
    /// When the relay was wired up.
    let startedAt: Moment
    private(set) var output: StandardOutput?
    private let factory: SinkFactory
    private let accepter: Accepter
    private let digests: DigestTimer
    let ages: AgeWatch
    /// Nil without a journal on disk.
    private let historyTimer: HistoryTimer?
    private let tasks = LongTasks()
    private let stopBell = Doorbell()
    private var exitCode = ExitCode.done
    private lazy var reloader = Reloader(self)

    /// Wires up a relay; reads the secrets of its sinks.
    ///
    /// - Throws: `MissingSecrets` if secrets of sinks cannot be read.
    init(_ parts: Parts) async throws(MissingSecrets) {
        self.parts = parts
        let (clock, log, tasks) = (parts.clock, parts.log, tasks)
        configuration = parts.configuration
        startedAt = clock.moment()
        inForceSince = startedAt.wall
        let plan = parts.configuration.rules.plan
        let journal: any Journal = parts.store ?? MemoryJournal(plan: plan)
        self.journal = journal
        factory = SinkFactory(secrets: parts.secrets, clock: clock, log: log)
        let accepter = Accepter(journal: journal, plan: plan, clock: clock, log: log)
        self.accepter = accepter
        let digests = DigestTimer(journal: journal, clock: clock, log: log)
        self.digests = digests
        ages = AgeWatch(journal: journal, clock: clock, log: log)
        historyTimer = parts.store.map { HistoryTimer(journal: $0, clock: clock) }
        sinks = SinkSet(journal: journal, factory: factory, clock: clock, log: log, tasks: tasks)
        streams = StreamSet(parts, accepter: accepter, receipts: ReceiptTable(), tasks: tasks)
        let prepared = try await factory.prepare(parts.configuration.sinks)
        put(in: parts.configuration, plan, prepared, saved: await savedProgress(of: parts.configuration.streams))
        accepter.progress = streams
        accepter.onPressure = { [weak self] in self?.streams.press(.commits, $0) }
        accepter.onDeadline = { digests.note($0) }
    }

    /// Relays until `stop()`, or until nothing can be delivered any more.
    func run() async -> ExitCode {
        await withTaskGroup(of: Void.self) { group in
            group.addLoopTask { [tasks] in await tasks.run() }
            let accepting = tasks.start { [accepter] in await accepter.run() }
            let timing = tasks.start { [digests] in await digests.run() }
            let aging = tasks.start { [self] in
                await watchFormerSinks()
                await ages.run()
            }
            let pruning = tasks.start { [historyTimer] in await historyTimer?.run() }
            let reloading = tasks.start { [reloader] in await reloader.run() }
            let controlling = tasks.start { [self] in await ControlServer.run(for: self) }
            await stopBell.wait()
            let deadline = parts.clock.now() + parts.grace
            await reloading.end()
            await controlling.end()
            await streams.end()
            accepter.finish()
            await accepting.ended(by: deadline, on: parts.clock)
            await timing.end()
            await aging.end()
            await pruning.end()
            await closeDigests()
            // What is on disk can wait for the next start; what is in memory cannot.
            if parts.store == nil { await sinks.drain() } else { await sinks.retire() }
            await sinks.ended(by: deadline)
            group.cancelAll()
        }
        await output?.flush(within: .seconds(1), clock: parts.clock)
        await accepter.saveLastProgress()
        await sinks.close()
        await tellCounters()
        await journal.close()
        return exitCode
    }

    /// Begins the shutdown.
    func stop(_ code: ExitCode = .done) {
        exitCode = code
        stopBell.ring()
    }

    /// Reads the rules file again soon.
    func reload() {
        reloader.request(.signal)
    }

    /// Puts another rules file in force, all at once: what was read before goes by the old one, all else by this.
    func adopt(_ configuration: RelayConfiguration, _ prepared: [PreparedSink]) async {
        let plan = configuration.rules.plan
        let saved = await savedProgress(of: configuration.streams)
        let done = accepter.adopt(plan)
        put(in: configuration, plan, prepared, saved: saved)
        await historyTimer?.keep(configuration.history)
        self.configuration = configuration
        inForceSince = parts.clock.wallNow()
        await done.wait()
        digests.wake()
        await watchFormerSinks()
    }

    /// Reads the secrets of the sinks of another rules file.
    func prepare(_ configuration: RelayConfiguration) async throws(MissingSecrets) -> [PreparedSink] {
        try await factory.prepare(configuration.sinks, known: sinks.prepared)
    }

    /// Starts the sinks that have stopped, or the one with this name, as dead letters were taken back.
    func startSinks(_ name: String?) async {
        await sinks.startAgain(name)
        ages.look()
    }

    /// The pages of the events with an id of which nothing was recorded, of the last ones.
    func recentPages(of id: String, in stream: String?) -> [StoryPage] {
        let identity = EventID(text: Array(id.utf8).span.bytes)
        return streams.recentStories(of: identity, in: stream).map {
            StoryPage(entry: $0, rules: configuration.rules, file: parts.rulesPath ?? "-")
        }
    }

    /// The files that hold secrets of the sinks in force.
    var secretFiles: Set<String> {
        Set(configuration.sinks.flatMap(\.secrets).compactMap { parts.secrets.file(of: $0) })
    }

    /// Lets the fast path know the silences, after one has come or gone.
    func silencesChanged() async {
        let silences = await journal.silences(at: parts.clock.moment())
        streams.silence(SilenceBook(silences))
    }

    /// Closes all digests and briefings, so that they are still delivered.
    private func closeDigests() async {
        do throws(JournalFailure) {
            try await journal.finish(at: parts.clock.moment())
        } catch {
            parts.log(.error, "journal", "digests and briefings could not be closed", [("because", error.description)])
        }
    }

    /// What the journal has of streams that the relay does not hold yet, by name; nothing if it keeps no progress.
    private func savedProgress(of streams: [RelayConfiguration.Stream]) async -> [String: StreamProgress] {
        guard parts.store != nil else { return [:] }
        var saved: [String: StreamProgress] = [:]
        for name in streams.map(\.connection.name) where !self.streams.names.contains(name) {
            saved[name] = await journal.savedProgress(of: name) ?? StreamProgress(stream: name)
        }
        return saved
    }

    private func put(
        in configuration: RelayConfiguration, _ plan: EffectPlan, _ prepared: [PreparedSink],
        saved: [String: StreamProgress]
    ) {
        if StandardOutput.owner(in: configuration.sinks) != nil, output == nil { makeOutput() }
        output?.adopt(configuration.sinks)
        sinks.adopt(prepared, output: output)
        let rules = RulesInForce(configuration, plan: plan, output: output, hasHistory: parts.store != nil)
        streams.adopt(configuration.streams, rules, saved: saved)
    }

    private func makeOutput() {
        let output = StandardOutput(descriptor: parts.standardOutput, log: parts.log)
        output.onFull = { [weak self] in self?.streams.press(.standardOutput, $0) }
        output.onOff = { [weak self] in self?.standardOutputIsOff() }
        self.output = output
        streams.output = output
    }

    private func standardOutputIsOff() {
        guard configuration.sinks.count == 1 else { return }
        parts.log(.error, "stdout", "standard output is gone and there is no other sink")
        stop(.failed)
    }
}
