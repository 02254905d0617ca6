import GLibRuntime
import RelayCore
import RelayTestKit
import WebSocketCodec

@testable import RelayStream

/// Makes sockets that answer as their scripts say, without a network and within the call.
@MainLoop
final class ScriptedTransport: StreamTransport {
    private let script: @MainLoop (Int) throws -> ScriptedSocket.Script
    private(set) var dials = 0
    private(set) var sockets: [ScriptedSocket] = []

    /// `script` gives the script of each dial by its number from 1, or throws what the dial fails with.
    init(_ script: @escaping @MainLoop (Int) throws -> ScriptedSocket.Script) {
        self.script = script
    }

    func dial(_ target: DialTarget, timeout: Duration) async throws -> any StreamSocket {
        dials += 1
        let socket = ScriptedSocket(try script(dials))
        sockets.append(socket)
        return socket
    }
}

/// A socket of the scripted transport.
@MainLoop
final class ScriptedSocket: StreamSocket {
    struct Script {
        var refusal: Int?
        var headers: [(String, String)] = []
        var body = ""
        /// What comes right behind the 101.
        var frames: [UInt8] = []
        /// Whether the peer ends once it has got a close frame.
        var endsAfterClose = true
        var isSilent = false
        /// What is sent in place of an HTTP answer.
        var garbage: String?
    }

    private let script: Script
    private var incoming: [UInt8] = []
    private var hasEnded = false
    private var isReading = false
    private var parser = HTTPHeadParser(.request)
    private var decoder: FrameDecoder?
    /// The codes of the close frames that we sent.
    private(set) var sent: [UInt16] = []
    private(set) var isDropped = false
    var onReadable: (@MainLoop () -> Void)?
    var unsentCount: Int { 0 }

    init(_ script: Script) {
        self.script = script
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamRead {
        guard !incoming.isEmpty else { return hasEnded ? .end : .nothing }
        let count = min(buffer.count, incoming.count)
        buffer.copyBytes(from: incoming[..<count])
        incoming.removeFirst(count)
        return .bytes(count)
    }

    func write(_ bytes: [UInt8]) {
        if decoder == nil { answer(bytes) } else { take(bytes) }
    }

    func setReading(_ isOn: Bool) {
        isReading = isOn
        if isOn, hasEnded || !incoming.isEmpty { onReadable?() }
    }

    func drop() {
        isDropped = true
        onReadable = nil
    }

    /// The peer ends the connection.
    func end() {
        hasEnded = true
        if isReading { onReadable?() }
    }

    private func answer(_ bytes: [UInt8]) {
        guard !script.isSilent, let head = try? parser.feed(bytes) else { return }
        decoder = FrameDecoder(role: .server)
        if let garbage = script.garbage {
            incoming = Array(garbage.utf8)
        } else if let status = script.refusal {
            incoming = ServerHandshake.refusal(
                status: status, reason: "No", headers: script.headers, body: Array(script.body.utf8))
        } else {
            incoming = ((try? ServerHandshake(head).acceptance()) ?? []) + script.frames
        }
        if isReading { onReadable?() }
    }

    private func take(_ bytes: [UInt8]) {
        decoder?.append(bytes)
        while let message = try? decoder?.next() {
            guard case .close(let code, _) = message else { continue }
            sent.append(code ?? 1005)
            if script.endsAfterClose { end() }
        }
    }
}

/// Keeps the messages of a stream and lets a test await them.
@MainLoop
final class RecordingHandler: StreamHandler {
    private(set) var connections: [Int] = []
    /// What must not be shown, as told at the opening of the last connection.
    private(set) var secrets: [Secret] = []
    private(set) var chunks = 0
    let messages: AsyncStream<[UInt8]>
    private let sink: AsyncStream<[UInt8]>.Continuation
    /// Runs in the call of each message.
    var onMessage: (() -> Void)?

    init() {
        (messages, sink) = AsyncStream.makeStream(of: [UInt8].self)
    }

    func opened(connection number: Int, hiding secrets: [Secret]) {
        connections.append(number)
        self.secrets = secrets
    }

    func received(_ bytes: [UInt8], messagesAt places: [Range<Int>]) {
        for place in places {
            sink.yield(Array(bytes[place]))
            onMessage?()
        }
    }

    func chunkEnded() {
        chunks += 1
    }
}
