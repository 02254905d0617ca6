package import GLibRuntime
package import RelayCore
internal import WebSocketCodec

/// Keeps one stream connected, for ever: dials, reads, waits and dials again.
///
/// One task runs it, one connection or dial exists at a time, and the machine in it says what comes next.
@MainLoop
package final class StreamReader {
    /// What the reader needs from outside.
    package struct Surroundings {
        /// Reads the token and the secret headers.
        package var secrets: SecretReader
        /// Looks up the variables that name proxies.
        package var environment: @Sendable (String) -> String?
        /// Tells the time.
        package var clock: any RelayClock
        /// Takes diagnostics.
        package var log: Log
        /// Makes sockets.
        package var transport: any StreamTransport
        /// Gives jitter, masks and handshake keys.
        package var generator: any RandomNumberGenerator & Sendable
        /// How long reading may be paused before the connection is closed with 1013.
        package var pauseLimit = Duration.seconds(30)
        /// Whether the token's file and the network are watched.
        package var isWatching = true
        /// Who takes what a catch-up brings; nil to fetch nothing, whatever the configuration says.
        package var catchUp: CatchUpTarget?

        /// Creates the surroundings of a process.
        package init(
            secrets: SecretReader, clock: any RelayClock, log: Log, transport: any StreamTransport,
            environment: @escaping @Sendable (String) -> String? = SecretReader.processEnvironment,
            generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
        ) {
            self.secrets = secrets
            self.clock = clock
            self.log = log
            self.transport = transport
            self.environment = environment
            self.generator = generator
        }
    }

    /// Where what a catch-up brings goes to.
    package struct CatchUpTarget {
        /// Who takes it.
        package var handler: any CatchUpHandler
        /// How the events of a page are read: as the items of a message.
        package var format: EventFormat

        /// Creates a target.
        package init(handler: any CatchUpHandler, format: EventFormat) {
            self.handler = handler
            self.format = format
        }
    }

    private let configuration: StreamConfiguration
    private let handler: any StreamHandler
    private let clock: any RelayClock
    private let dialler: StreamDial
    private let pauseLimit: Duration
    private let isWatching: Bool
    private let catchUp: CatchUpRunner?
    private let bell = Doorbell()
    private var generator: any RandomNumberGenerator & Sendable
    private var machine: StreamMachine
    private var reporter: StreamReporter
    private var connection: StreamConnection?
    /// What a change of the token or the network made of a wait.
    private var hastened: StreamMachine.Step?
    private var isPaused = false
    private var lastError: String?
    private var lostAt: Instant?
    private var connections = 0
    private var messagesBefore = 0

    /// Creates the reader of one stream.
    package init(_ configuration: StreamConfiguration, handler: any StreamHandler, surroundings: Surroundings) {
        self.configuration = configuration
        self.handler = handler
        clock = surroundings.clock
        pauseLimit = surroundings.pauseLimit
        isWatching = surroundings.isWatching
        generator = surroundings.generator
        dialler = StreamDial(
            configuration: configuration, secrets: surroundings.secrets, environment: surroundings.environment,
            clock: surroundings.clock, transport: surroundings.transport)
        catchUp = CatchUpRunner(configuration, surroundings: surroundings)
        machine = StreamMachine(policy: configuration.redial, at: surroundings.clock.now())
        reporter = StreamReporter(stream: configuration.name, log: surroundings.log)
    }

    /// Runs until the task is cancelled, which closes the connection with 1001.
    ///
    /// To be called once.
    package func run() async {
        guard let catchUp else { return await runConnections() }
        await withTaskGroup(of: Void.self) { group in
            group.addLoopTask { await catchUp.run() }
            await runConnections()
            group.cancelAll()
        }
    }

    private func runConnections() async {
        let tokenWatch = makeTokenWatch()
        let networkWatch = isWatching ? NetworkWatch { [weak self] in self?.networkCameBack() } : nil
        var step = machine.start(at: clock.now())
        while let current = step {
            switch current {
            case .dial: step = await dial()
            case .run: step = await serve()
            case .wait(let deadline): step = await wait(until: deadline)
            case .finish: step = nil
            }
        }
        reporter.stopped()
        withExtendedLifetime((tokenWatch, networkWatch)) {}
    }

    /// What the stream is doing now.
    package var status: StreamStatus {
        var status = StreamStatus(stream: configuration.name, machine: machine, lastError: lastError)
        status.connections = connections
        status.messages = messagesBefore + (connection?.messages ?? 0)
        status.lastBytesAt = connection?.lastBytesAt
        status.isCatchingUp = catchUp?.isRunning ?? false
        status.catchUpError = catchUp?.lastError
        return status
    }

    /// Stops reading, since what was read cannot be stored.
    ///
    /// What has been read already is still handed over.
    ///
    /// After the pause limit the connection is closed with 1013, and no dial is made before `resume`.
    package func pause() {
        isPaused = true
        connection?.pause()
        catchUp?.pause()
    }

    /// Reads again, or dials again.
    package func resume() {
        isPaused = false
        connection?.resume()
        catchUp?.resume()
        bell.ring()
    }

    /// Ends a wait for another token.
    package func tokenChanged() {
        reporter.tokenChanged()
        hasten(machine.tokenChanged(at: clock.now()))
        catchUp?.tokenChanged()
    }

    /// Ends a wait that the network caused.
    package func networkCameBack() {
        hasten(machine.networkBack(at: clock.now()))
    }

    private func hasten(_ step: StreamMachine.Step?) {
        guard let step else { return }
        hastened = step
        bell.ring()
    }

    private func makeTokenWatch() -> FileWatch? {
        guard isWatching, let path = configuration.token.flatMap(dialler.secrets.file) else { return nil }
        let watch = FileWatch(path: path) { [weak self] in self?.tokenChanged() }
        if let failure = watch.failure {
            reporter.lacks("changes of the token file are not noticed at once: \(failure.message)")
        }
        return watch
    }

    // MARK: The steps

    private func dial() async -> StreamMachine.Step? {
        if Task.isCancelled { return machine.stop(at: clock.now()) }
        if case .connecting(let cause) = machine.state { reporter.dialling(cause, attempt: machine.attempts) }
        let key = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        switch await dialler.run(key: key) {
        case .stopped: return machine.stop(at: clock.now())
        case .failed(let ending): return end(ending, wasOpen: false)
        case .opened(let socket, let rest, let secrets):
            let attempts = machine.attempts
            connection = StreamConnection(
                socket: socket, rest: rest, configuration: configuration, secrets: secrets, clock: clock,
                handler: handler, pauseLimit: pauseLimit, generator: generator)
            let step = machine.opened(at: clock.now())
            connections += 1
            reporter.opened(configuration.url.originDescription, attempts: attempts)
            return step
        }
    }

    private func serve() async -> StreamMachine.Step? {
        guard let connection else { return machine.stop(at: clock.now()) }
        handler.opened(connection: connections, hiding: connection.secrets)
        let lost = lostAt.map { clock.now() - $0 }
        if !(catchUp?.opened(lost: lost) ?? false), let lost { reporter.gap(lost) }
        if isPaused { connection.pause() }
        let end = await connection.run()
        catchUp?.closed()
        self.connection = nil
        messagesBefore += connection.messages
        lostAt = connection.lostAt
        let now = clock.now()
        if now - machine.since >= machine.policy.held { reporter.held() }
        switch end {
        case .stopped: return machine.stop(at: now)
        case .ended(let ending): return self.end(ending, wasOpen: true)
        case .away:
            lastError = "the connection did not outlive a suspend"
            reporter.wasAway()
            return machine.away(at: now)
        }
    }

    private func end(_ ending: Ending, wasOpen: Bool) -> StreamMachine.Step? {
        let now = clock.now()
        lastError = ending.reason
        hastened = nil
        let step = machine.ended(ending, at: now, using: &generator)
        if case .wait(let dialAt) = step {
            let isSlow = machine.policy.isRefused && ending.cause == .authOrPolicy
            reporter.ended(ending, wasOpen: wasOpen, isSlow: isSlow, wait: dialAt - now, at: now)
        }
        return step
    }

    private func wait(until deadline: Instant) async -> StreamMachine.Step? {
        await bell.wait(until: isPaused ? .distantFuture : deadline, on: clock)
        let now = clock.now()
        if Task.isCancelled { return machine.stop(at: now) }
        if isPaused { return .wait(until: deadline) }
        defer { hastened = nil }
        return hastened ?? machine.waited(at: now)
    }
}
