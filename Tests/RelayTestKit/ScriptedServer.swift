package import GLibRuntime
package import WebSocketCodec

/// A real WebSocket server on 127.0.0.1 that answers every connection as its script says, and records what it gets.
@MainLoop
package final class ScriptedServer {
    /// How the handshake is answered.
    package enum Answer: Sendable {
        /// With 101, as it should be.
        case accept
        /// With another status and a body.
        case refuse(Int, headers: [(String, String)] = [], body: String = "")
        /// With these bytes as they are; after them the connection counts as open.
        case raw([UInt8])
        /// With these bytes, one at a time.
        case trickle([UInt8], every: Duration)
        /// Not at all.
        case silent
        /// By dropping the connection.
        case drop
    }

    /// What is done after the answer, in order.
    package enum Step: Sendable {
        /// Sends bytes as they are.
        case raw([UInt8])
        /// Sends a text message.
        case text(String)
        /// Sends a ping.
        case ping([UInt8])
        /// Sends a close frame.
        case close(UInt16?, String = "")
        /// Drops the connection without a close frame.
        case drop
        /// Reads nothing any more, so no ping is answered.
        case deaf
    }

    /// What happens on one connection.
    package struct Script: Sendable {
        /// How the handshake is answered.
        package var answer: Answer
        /// What follows it.
        package var steps: [Step]
        /// Whether pings get pongs.
        package var answersPings: Bool

        /// Creates a script.
        package init(_ answer: Answer = .accept, _ steps: [Step] = [], answersPings: Bool = true) {
            self.answer = answer
            self.steps = steps
            self.answersPings = answersPings
        }
    }

    /// What the server got.
    package enum Record: Sendable, Equatable {
        /// A request; the number counts connections from 1.
        case request(Int, HTTPHead)
        /// A message.
        case message([UInt8])
        case ping([UInt8])
        case pong([UInt8])
        case close(UInt16?, String)
        /// The client broke the protocol.
        case fault(String)
        /// The client ended the connection.
        case ended(Int)
    }

    /// The port.
    package let port: UInt16
    /// Everything the server gets, in order; for one reader.
    package let records: AsyncStream<Record>

    private let listener: SocketListener
    private let sink: AsyncStream<Record>.Continuation
    private let script: @MainLoop (Int, HTTPHead) -> Script
    private var connections: [Int: ScriptedConnection] = [:]
    private var count = 0

    /// Starts to listen; `script` gives the script of each connection by its number from 1 and its request.
    package init(
        port: UInt16 = 0, certificate: SocketListener.Certificate? = nil,
        script: @escaping @MainLoop (Int, HTTPHead) -> Script = { _, _ in Script() }
    ) throws {
        (records, sink) = AsyncStream.makeStream(of: Record.self)
        self.script = script
        listener = try SocketListener(port: port, certificate: certificate)
        self.port = listener.port
        listener.onAccept = { [weak self] in self?.accept($0) }
    }

    /// The address to dial, with a path and a query of your choice.
    package func url(_ target: String = "/ws") -> String { "ws://127.0.0.1:\(port)\(target)" }

    /// The connections so far.
    package var connectionCount: Int { count }

    /// Does steps on the newest connection.
    package func perform(_ steps: Step...) {
        connections[count]?.perform(steps)
    }

    /// Stops to listen and drops everything.
    package func close() {
        listener.close()
        for connection in connections.values { connection.drop() }
        connections = [:]
        sink.finish()
    }

    private func accept(_ socket: SocketConnection) {
        count += 1
        let number = count
        connections[number] = ScriptedConnection(socket) { [weak self] head in
            guard let self else { return Script(.drop) }
            sink.yield(.request(number, head))
            return script(number, head)
        } record: { [weak self] record in
            self?.sink.yield(record)
        } ended: { [weak self] in
            self?.sink.yield(.ended(number))
            self?.connections[number] = nil
        }
    }
}

/// One connection of the server.
@MainLoop
private final class ScriptedConnection {
    private let socket: SocketConnection
    private let script: (HTTPHead) -> ScriptedServer.Script
    private let record: (ScriptedServer.Record) -> Void
    private let ended: () -> Void
    private var parser: HTTPHeadParser? = HTTPHeadParser(.request)
    private var decoder = FrameDecoder(role: .server)
    private var answersPings = true
    private var trickle: LoopTimer?

    init(
        _ socket: SocketConnection, script: @escaping (HTTPHead) -> ScriptedServer.Script,
        record: @escaping (ScriptedServer.Record) -> Void, ended: @escaping () -> Void
    ) {
        self.socket = socket
        self.script = script
        self.record = record
        self.ended = ended
        socket.startReading { [weak self] in self?.readable() }
    }

    func drop() {
        trickle = nil
        socket.abort()
    }

    func perform(_ steps: [ScriptedServer.Step]) {
        for step in steps {
            var frame: [UInt8] = []
            switch step {
            case .raw(let bytes): frame = bytes
            case .text(let text): FrameEncoder.appendText(text, maskedWith: nil, to: &frame)
            case .ping(let payload): FrameEncoder.appendPing(payload, maskedWith: nil, to: &frame)
            case .close(let code, let reason):
                FrameEncoder.appendClose(code, reason: reason, maskedWith: nil, to: &frame)
            case .drop:
                drop()
                return ended()
            case .deaf: socket.pauseReading()
            }
            socket.write(frame)
        }
    }

    private func readable() {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        do throws(GLibError) {
            var span = chunk.mutableSpan
            var room = span.mutableBytes
            switch try socket.read(into: &room) {
            case .wouldBlock: return
            case .endOfFile: end()
            case .bytes(let count): take(chunk[..<count])
            }
        } catch {
            end()
        }
    }

    private func end() {
        socket.abort()
        ended()
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
        guard parser != nil else {
            decoder.append(bytes)
            return takeFrames()
        }
        do throws(HandshakeFault) {
            guard let head = try parser?.feed(bytes) else { return }
            decoder.append(parser?.rest ?? [])
            parser = nil
            try answer(head)
        } catch {
            record(.fault(error.description))
            end()
        }
    }

    private func answer(_ head: HTTPHead) throws(HandshakeFault) {
        let script = script(head)
        answersPings = script.answersPings
        switch script.answer {
        case .accept:
            let offered = head.list(of: "Sec-WebSocket-Protocol").first
            socket.write(try ServerHandshake(head).acceptance(subprotocol: offered))
        case .refuse(let status, let headers, let body):
            socket.write(
                ServerHandshake.refusal(status: status, reason: "No", headers: headers, body: Array(body.utf8)))
        case .raw(let bytes): socket.write(bytes)
        case .trickle(let bytes, let pause): send(bytes, every: pause)
        case .silent: return
        case .drop: return end()
        }
        perform(script.steps)
        takeFrames()
    }

    private func send(_ bytes: [UInt8], every pause: Duration) {
        guard let first = bytes.first else { return }
        socket.write([first])
        let timer = LoopTimer { [weak self] _ in self?.send(Array(bytes.dropFirst()), every: pause) }
        timer.schedule(after: pause)
        trickle = timer
    }

    private func takeFrames() {
        do throws(ProtocolFault) {
            while let message = try decoder.next() { take(message) }
        } catch {
            record(.fault(error.description))
            end()
        }
    }

    private func take(_ message: FrameDecoder.Message) {
        switch message {
        case .text(let range), .binary(let range): record(.message(decoder.bytes(of: range)))
        case .ping(let payload):
            record(.ping(payload))
            guard answersPings else { return }
            var pong: [UInt8] = []
            FrameEncoder.appendPong(payload, maskedWith: nil, to: &pong)
            socket.write(pong)
        case .pong(let payload): record(.pong(payload))
        case .close(let code, let reason):
            record(.close(code, reason))
            var answer: [UInt8] = []
            FrameEncoder.appendClose(code, maskedWith: nil, to: &answer)
            socket.write(answer)
            socket.closeAfterFlush()
            ended()
        }
    }
}
