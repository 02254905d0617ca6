internal import GLibRuntime
internal import RelayCore
internal import WebSocketCodec

/// The server's side of one connection of the demo: the handshake, pongs, and the end.
@MainLoop
final class DemoClient {
    /// Called when the handshake is done.
    var onOpen: (@MainLoop () -> Void)?
    /// Called when the connection has ended.
    var onEnd: (@MainLoop () -> Void)?

    private let connection: SocketConnection
    private let token: Secret
    private var parser = HTTPHeadParser(.request)
    private var decoder = FrameDecoder(role: .server, maxMessage: 65_536)
    private var isOpen = false

    /// Takes an accepted connection; `start` begins to read.
    init(_ connection: SocketConnection, token: Secret) {
        self.connection = connection
        self.token = token
    }

    /// Reads until the connection ends.
    ///
    /// The connection keeps the client alive until then.
    func start() {
        connection.onEnd = { _ in self.end() }
        connection.startReading { self.read() }
    }

    /// Sends one text message.
    func send(_ text: [UInt8]) {
        var frame: [UInt8] = []
        FrameEncoder.append(.text, text, maskedWith: nil, to: &frame)
        connection.write(frame)
    }

    /// Drops the connection without a close frame.
    func abort() {
        connection.abort()
        end()
    }

    private func end() {
        onEnd?()
        onOpen = nil
        onEnd = nil
        connection.onEnd = nil
        connection.abort()
    }

    private func read() {
        do {
            var bytes = [UInt8](repeating: 0, count: 16_384)
            switch try bytes.withUnsafeMutableBytes({ try connection.read(into: $0) }) {
            case .wouldBlock: return
            case .endOfFile: end()
            case .bytes(let count): try take(bytes[..<count])
            }
        } catch {
            // Whatever is wrong with a client of the demo, dropping it is all there is to do.
            end()
        }
    }

    private func take(_ bytes: ArraySlice<UInt8>) throws {
        if isOpen {
            decoder.append(bytes)
        } else {
            guard let head = try parser.feed(bytes) else { return }
            try answer(ServerHandshake(head))
            decoder.append(parser.rest)
        }
        while let message = try decoder.next() {
            var answer: [UInt8] = []
            switch message {
            case .ping(let payload): FrameEncoder.appendPong(payload, maskedWith: nil, to: &answer)
            case .close(let code, _): FrameEncoder.appendClose(code, maskedWith: nil, to: &answer)
            case .text, .binary, .pong: continue
            }
            connection.write(answer)
        }
    }

    private func answer(_ handshake: ServerHandshake) throws(HandshakeFault) {
        guard handshake.head.values(of: "Authorization") == ["Bearer \(token.reveal())"] else {
            connection.write(ServerHandshake.refusal(status: 401, reason: "Unauthorized"))
            return connection.closeAfterFlush()
        }
        connection.write(try handshake.acceptance())
        isOpen = true
        onOpen?()
    }
}
