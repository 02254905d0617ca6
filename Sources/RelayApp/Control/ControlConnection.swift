internal import GLibRuntime
internal import RelayCore

/// One connection of a command: a JSON request a line, a JSON answer a line, one after the other.
@MainLoop
final class ControlConnection {
    /// What a connection may take.
    struct Limits: Sendable {
        /// The most bytes of a request.
        var request = 64 << 10
        /// How long a request may take to come, whole.
        var patience = Duration.seconds(10)
    }

    private let socket: SocketConnection
    private let limits: Limits
    private let answer: @MainLoop ([UInt8]) async -> JSONValue
    private let onEnd: @MainLoop () -> Void
    private let tasks: LongTasks
    private var received: [UInt8] = []
    private var isAnswering = false
    private var isOver = false
    private var timer: LoopTimer?

    /// Serves `socket`; requests are answered among `tasks`, and `onEnd` is called once.
    init(
        _ socket: SocketConnection, limits: Limits, tasks: LongTasks,
        answer: @escaping @MainLoop ([UInt8]) async -> JSONValue, onEnd: @escaping @MainLoop () -> Void
    ) {
        self.socket = socket
        self.limits = limits
        self.answer = answer
        self.onEnd = onEnd
        self.tasks = tasks
        socket.onEnd = { [weak self] _ in self?.end() }
        timer = LoopTimer { [weak self] _ in self?.refuse("no request came for \(DurationText.format(limits.patience))")
        }
        timer?.schedule(after: limits.patience)
        socket.startReading { [weak self] in self?.readable() }
    }

    /// Sends an error and closes.
    func refuse(_ reason: String) {
        send(Self.failure(reason))
        socket.closeAfterFlush()
        end()
    }

    /// Drops the connection.
    func drop() {
        socket.abort()
        end()
    }

    /// An answer that says why there is none.
    static func failure(_ reason: String) -> JSONValue {
        .object([("ok", false), ("error", .string(reason))])
    }

    private func readable() {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        do throws(GLibError) {
            var span = chunk.mutableSpan
            var room = span.mutableBytes
            switch try socket.read(into: &room) {
            case .bytes(let count): received += chunk[..<count]
            case .wouldBlock: return
            case .endOfFile: return close()
            }
        } catch {
            return drop()
        }
        takeRequest()
    }

    private func takeRequest() {
        guard !isAnswering, !isOver else { return }
        guard let newline = received.firstIndex(of: UInt8(ascii: "\n")) else {
            if received.count > limits.request { refuse("the request is longer than \(limits.request) bytes") }
            return
        }
        guard newline <= limits.request else { return refuse("the request is longer than \(limits.request) bytes") }
        let request = Array(received[..<newline])
        received.removeSubrange(...newline)
        isAnswering = true
        // Nobody reads ahead of the answers, so what waits is bounded.
        socket.pauseReading()
        timer?.cancel()
        tasks.start { [weak self] in await self?.answer(to: request) }
    }

    private func answer(to request: [UInt8]) async {
        send(await answer(request))
        isAnswering = false
        guard !isOver else { return }
        timer?.schedule(after: limits.patience)
        socket.resumeReading()
        takeRequest()
    }

    private func send(_ answer: JSONValue) {
        socket.write(answer.line + [UInt8(ascii: "\n")])
    }

    private func close() {
        socket.closeAfterFlush()
        end()
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        timer?.cancel()
        onEnd()
    }
}
