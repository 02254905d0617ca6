internal import GLibRuntime
internal import RelayCore
internal import WebSocketCodec

/// One open WebSocket connection: reads, answers pings, proves liveness, closes.
///
/// Dies with its socket.
@MainLoop
final class StreamConnection {
    /// How the connection ended.
    enum End: Sendable, Equatable {
        /// By the peer, the network or a fault.
        case ended(Ending)
        /// The process was away and the socket held nothing.
        case away
        /// By our own stop.
        case stopped
    }

    private enum Phase {
        /// Messages flow.
        case open
        /// A close frame has gone out; what comes is thrown away until the peer ends or the time is up.
        case closing(End)
        /// Nothing more happens.
        case over(End)
    }

    /// The time a close handshake has (RFC 6455, section 7.1.1, leaves it open).
    private static let closeTimeout = Duration.seconds(2)
    /// Reads in one turn of the loop: with 64 KiB each, so much that timers and other sources are not starved.
    private static let readsPerTurn = 8
    /// At this many unsent bytes the peer does not read; its pings get no answers until it does.
    private static let unsentLimit = 65_536

    private let socket: any StreamSocket
    private let clock: any RelayClock
    private let handler: any StreamHandler
    private let authCloseCodes: Set<UInt16>
    private let pauseLimit: Duration
    /// What the server knows and no log line may show.
    let secrets: [Secret]
    private let bell = Doorbell()
    private var generator: any RandomNumberGenerator & Sendable
    private var decoder: FrameDecoder
    private var places: [Range<Int>] = []
    private var liveness: Liveness
    private var phase = Phase.open
    private var pausedAt: Instant?
    private var closeTimer: LoopTimer?
    private var outgoing: [UInt8] = []
    /// When bytes last came.
    private(set) var lastBytesAt: Instant
    /// Since when messages may be missing: the end, or the last bytes before a silence.
    private(set) var lostAt: Instant
    /// The messages so far.
    private(set) var messages = 0

    /// Takes over a socket on which the server has answered 101; `rest` are the bytes that came behind the answer.
    init(
        socket: any StreamSocket, rest: [UInt8], configuration: StreamConfiguration, secrets: [Secret],
        clock: any RelayClock, handler: any StreamHandler, pauseLimit: Duration,
        generator: any RandomNumberGenerator & Sendable
    ) {
        self.socket = socket
        self.clock = clock
        self.handler = handler
        self.secrets = secrets
        self.pauseLimit = pauseLimit
        self.generator = generator
        authCloseCodes = configuration.authCloseCodes
        decoder = FrameDecoder(role: .client, maxMessage: configuration.maxMessage)
        decoder.append(rest)
        lastBytesAt = clock.now()
        lostAt = lastBytesAt
        liveness = Liveness(ping: configuration.ping, pongTimeout: configuration.pongTimeout, at: lastBytesAt)
    }

    /// Runs the connection to its end.
    ///
    /// Cancelling the task closes it with 1001.
    func run() async -> End {
        socket.onReadable = { [weak self] in self?.readable() }
        socket.setReading(true)
        decode()
        endChunk()
        while true {
            switch phase {
            case .open: await live()
            case .closing: await bell.waitForRing()
            case .over(let end):
                closeTimer = nil
                socket.drop()
                return end
            }
        }
    }

    /// Stops reading, and with it our own liveness deadline.
    func pause() {
        guard pausedAt == nil, case .open = phase else { return }
        pausedAt = clock.now()
        liveness.pause()
        socket.setReading(false)
        bell.ring()
    }

    /// Reads again.
    func resume() {
        guard pausedAt != nil else { return }
        pausedAt = nil
        liveness.resume(at: clock.now())
        if case .open = phase { socket.setReading(true) }
        bell.ring()
    }

    // MARK: Time

    private func live() async {
        let now = clock.now()
        if Task.isCancelled { return close(1001, "the relay stops", .stopped) }
        if let pausedAt, now - pausedAt >= pauseLimit {
            let reason = "no event could be stored for \(DurationText.format(pauseLimit))"
            return close(1013, "cannot store events", .ended(Ending(.network, reason)))
        }
        switch liveness.tick(at: now) {
        case .sendPing: sendPing()
        case .wait(let deadline):
            let pauseEnd = pausedAt.map { $0 + pauseLimit } ?? .distantFuture
            await bell.wait(until: min(deadline, pauseEnd), on: clock)
        case .abort:
            let reason = "the server is silent: nothing came, not even an answer to a ping"
            finish(.ended(Ending(.network, reason)), isSilent: true)
        case .takeWhatIsHeld: takeWhatIsHeld()
        }
    }

    private func takeWhatIsHeld() {
        let before = lastBytesAt
        readable()
        guard case .open = phase else {
            // What the socket held was its end; that it ended while the process was away calls for a dial at once.
            if case .over(.ended(let ending)) = phase, ending.cause == .network {
                phase = .over(.away)
                lostAt = before
            }
            return
        }
        switch liveness.returned(foundBytes: lastBytesAt > before, at: clock.now()) {
        case .sendPing: sendPing()
        case .wait, .takeWhatIsHeld: break
        case .abort: finish(.away, isSilent: true)
        }
    }

    // MARK: Reading

    private func readable() {
        guard pausedAt == nil else { return }
        for _ in 0..<Self.readsPerTurn {
            guard readOnce() else { break }
        }
        endChunk()
    }

    /// Reads once and decodes; returns whether there may be more.
    private func readOnce() -> Bool {
        switch phase {
        case .over: return false
        case .closing where decoder.isOver:
            var scratch = [UInt8](repeating: 0, count: FrameDecoder.chunk)
            return took(scratch.withUnsafeMutableBytes { socket.read(into: $0) })
        case .open, .closing:
            let outcome = decoder.withWritableBytes { room in
                socket.read(into: UnsafeMutableRawBufferPointer(rebasing: room.prefix(FrameDecoder.chunk)))
            }
            if case .bytes(let count) = outcome { decoder.commit(count) }
            guard took(outcome) else { return false }
            decode()
            return pausedAt == nil
        }
    }

    /// Draws the consequences of a read; returns whether bytes came.
    private func took(_ outcome: StreamRead) -> Bool {
        switch outcome {
        case .bytes:
            lastBytesAt = clock.now()
            if liveness.heard(at: lastBytesAt) { bell.ring() }
            return true
        case .nothing: return false
        case .end: ended("the server dropped the connection without a close frame")
        case .failed(let text): ended(text)
        }
        return false
    }

    private func ended(_ reason: String) {
        if case .closing(let end) = phase { return finish(end) }
        finish(.ended(Ending(.network, reason)))
    }

    private func decode() {
        while true {
            decoder.takeMessages(into: &places)
            handOver()
            do throws(ProtocolFault) {
                guard let message = try decoder.next() else { return }
                take(message)
            } catch {
                let ending = Ending(.network, "the server broke the protocol: \(error.message)")
                return close(error.code, error.message, .ended(ending))
            }
        }
    }

    /// Hands over the messages that lie at `places`, unless both sides have closed.
    private func handOver() {
        guard !places.isEmpty else { return }
        if case .open = phase {
            messages += places.count
            decoder.withBuffer { handler.received($0, messagesAt: places) }
        }
        places.removeAll(keepingCapacity: true)
    }

    private func take(_ message: FrameDecoder.Message) {
        guard case .open = phase else {
            // Both sides have closed: nothing of worth can follow.
            if case .close = message, case .closing(let end) = phase { finish(end) }
            return
        }
        switch message {
        case .text(let range), .binary(let range):
            places.append(range)
            handOver()
        case .ping(let payload):
            guard socket.unsentCount + outgoing.count < Self.unsentLimit else { return }
            FrameEncoder.appendPong(payload, maskedWith: mask(), to: &outgoing)
        case .pong: break
        case .close(let code, let reason):
            let cause = Ending.cause(closeCode: code ?? 1005, authCloseCodes: authCloseCodes)
            let text = ServerText.clean(reason, hiding: secrets)
            let told = "the server closed" + (code.map { ": \($0)" } ?? "") + (text.isEmpty ? "" : " (\(text))")
            close(code, "", .ended(Ending(cause, told)))
        }
    }

    private func endChunk() {
        flush()
        handler.chunkEnded()
    }

    // MARK: Writing and closing

    private func sendPing() {
        FrameEncoder.appendPing([], maskedWith: mask(), to: &outgoing)
        flush()
    }

    private func flush() {
        guard !outgoing.isEmpty else { return }
        if case .over = phase {} else { socket.write(outgoing) }
        outgoing.removeAll(keepingCapacity: true)
    }

    /// Sends a close frame and gives the peer a moment to end the connection, so that the frame is not lost by a reset.
    private func close(_ code: UInt16?, _ reason: String, _ end: End) {
        guard case .open = phase else { return }
        phase = .closing(end)
        FrameEncoder.appendClose(code, reason: reason, maskedWith: mask(), to: &outgoing)
        flush()
        pausedAt = nil
        socket.setReading(true)
        let timer = LoopTimer { [weak self] _ in self?.finish(end) }
        timer.schedule(after: Self.closeTimeout)
        closeTimer = timer
        bell.ring()
    }

    private func finish(_ end: End, isSilent: Bool = false) {
        if case .over = phase { return }
        phase = .over(end)
        lostAt = isSilent ? lastBytesAt : clock.now()
        bell.ring()
    }

    private func mask() -> UInt32 {
        UInt32.random(in: .min ... .max, using: &generator)
    }
}
