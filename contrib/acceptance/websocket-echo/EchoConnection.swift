import GLibRuntime
import WebSocketCodec

/// One connection that sends every message back.
@MainLoop
final class EchoConnection {
    /// The suite's largest message has 16 MiB.
    private static let maxMessage = 64 << 20
    /// How long the server may take to close after both close frames.
    private static let closeDeadline = Duration.seconds(5)

    private let socket: SocketConnection
    private let handshake: ClientHandshake
    private var parser: HTTPHeadParser? = HTTPHeadParser(.response)
    private var decoder = FrameDecoder(role: .client, maxMessage: maxMessage)
    private var output: [UInt8] = []
    private var end: CheckedContinuation<Void, any Error>?
    private var closeTimer: LoopTimer?

    private init(_ socket: SocketConnection, _ handshake: ClientHandshake) {
        self.socket = socket
        self.handshake = handshake
        socket.unsentLimit = 2 * Self.maxMessage
    }

    /// Connects to a server without TLS.
    static func open(_ url: WebSocketURL) async throws -> EchoConnection {
        let key = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        let handshake = ClientHandshake(target: url, headers: [], subprotocol: nil, key: key)
        let socket = try await SocketConnection.dial(DialTarget(host: url.host, port: url.port))
        return EchoConnection(socket, handshake)
    }

    /// Echoes until the connection ends.
    ///
    /// - Throws: `HandshakeFault`, or `GLibError` when the connection breaks.
    func run() async throws {
        socket.write(handshake.request)
        try await withCheckedThrowingContinuation { continuation in
            end = continuation
            socket.onEnd = { [weak self] _ in self?.finish(.success(())) }
            socket.startReading { [weak self] in self?.readable() }
        }
    }

    private func readable() {
        do {
            let result = parser == nil ? try readFrames() : try readHead()
            if result == .endOfFile { finish(.success(())) }
        } catch {
            // After the close frames the suite resets the connection.
            finish(decoder.isOver ? .success(()) : .failure(error))
        }
        guard !output.isEmpty else { return }
        socket.write(output)
        output = []
    }

    private func readHead() throws -> ReadResult {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let result = try bytes.withUnsafeMutableBytes { buffer in try socket.read(into: buffer) }
        guard case .bytes(let count) = result, let head = try parser?.feed(bytes.prefix(count)) else { return result }
        let rest = parser?.rest ?? []
        parser = nil
        try handshake.check(head, body: rest)
        decoder.append(rest)
        answerAll()
        return result
    }

    private func readFrames() throws -> ReadResult {
        let result = try decoder.withWritableBytes { buffer throws(GLibError) in try socket.read(into: buffer) }
        if case .bytes(let count) = result {
            decoder.commit(count)
            answerAll()
        }
        return result
    }

    private func answerAll() {
        do throws(ProtocolFault) {
            while let message = try decoder.next() { answer(message) }
        } catch {
            close(error.code, error.message)
        }
    }

    private func answer(_ message: FrameDecoder.Message) {
        switch message {
        case .text(let range): echo(.text, range)
        case .binary(let range): echo(.binary, range)
        case .ping(let payload): FrameEncoder.appendPong(payload, maskedWith: Self.mask(), to: &output)
        case .pong: break
        case .close(let code, _): close(code, "")
        }
    }

    private func echo(_ opcode: Opcode, _ range: Range<Int>) {
        decoder.withBytes(of: range) { bytes in
            FrameEncoder.append(opcode, bytes.bytes, maskedWith: Self.mask(), to: &output)
        }
    }

    /// Says goodbye and leaves the end of the connection to the server: RFC 6455, section 7.1.1.
    private func close(_ code: UInt16?, _ reason: String) {
        FrameEncoder.appendClose(code, reason: reason, maskedWith: Self.mask(), to: &output)
        let timer = LoopTimer { [weak self] _ in self?.finish(.success(())) }
        timer.schedule(after: Self.closeDeadline)
        closeTimer = timer
    }

    private func finish(_ result: Result<Void, any Error>) {
        closeTimer?.cancel()
        socket.abort()
        end?.resume(with: result)
        end = nil
    }

    private static func mask() -> UInt32 { UInt32.random(in: .min ... .max) }
}
