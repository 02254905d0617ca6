import GLibRuntime
import Glibc
import RelayCore
import RelayTestKit
import Testing
import WebSocketCodec

@testable import RelayStream

/// The reader over real sockets, against a scripted server.
@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct StreamSocketTests {
    private let recorded = RecordedLog()
    private let handler = RecordingHandler()
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        folder.write("token", "T1-PLANTED-token\n", mode: 0o600)
    }

    private func reader(
        _ url: String, isWatching: Bool = false, _ change: (inout StreamConfiguration) -> Void = { _ in }
    ) throws -> StreamReader {
        var configuration = StreamConfiguration(
            name: "chirp", url: try WebSocketURL(url), token: .file(path: "token", insecure: false))
        configuration.redial = RedialPolicy(base: .milliseconds(20), cap: .milliseconds(40), held: .seconds(30))
        change(&configuration)
        var surroundings = StreamReader.Surroundings(
            secrets: SecretReader(folder: folder.path), clock: BootClock(), log: recorded.log,
            transport: SocketTransport(), environment: { _ in nil })
        surroundings.isWatching = isWatching
        return StreamReader(configuration, handler: handler, surroundings: surroundings)
    }

    /// Awaits the first record that `pick` takes.
    private func next<Value: Sendable>(
        of server: ScriptedServer, _ pick: (ScriptedServer.Record) -> Value?
    ) async -> Value? {
        for await record in server.records {
            if let value = pick(record) { return value }
        }
        return nil
    }

    private func text(_ bytes: String) -> [UInt8] { Array(bytes.utf8) }

    @Test func messagesArriveWithTheTokenSent() async throws {
        let server = try ScriptedServer { _, _ in .init(.accept, [.text("one"), .text("two")]) }
        defer { server.close() }
        try await running(reader(server.url("/ws?a=b%20c"))) {
            let head = await next(of: server) { if case .request(_, let head) = $0 { head } else { nil } }
            #expect(head?.startLine == "GET /ws?a=b%20c HTTP/1.1")
            #expect(head?.values(of: "Authorization") == ["Bearer T1-PLANTED-token"])
            var messages = handler.messages.makeAsyncIterator()
            #expect(await messages.next() == text("one"))
            #expect(await messages.next() == text("two"))
        }
        #expect(handler.connections == [1])
        #expect(await next(of: server) { $0 == .close(1001, "the relay stops") ? true : nil } == true)
    }

    @Test func bareTokenGoesIntoItsOwnHeader() async throws {
        let server = try ScriptedServer()
        defer { server.close() }
        let reader = try reader(server.url()) { configuration in
            configuration.header = "X-Token"
            configuration.scheme = ""
            configuration.headers = [.init(name: "X-Account", value: .text("7"))]
        }
        await running(reader) {
            let head = await next(of: server) { if case .request(_, let head) = $0 { head } else { nil } }
            #expect(head?.values(of: "X-Token") == ["T1-PLANTED-token"])
            #expect(head?.values(of: "X-Account") == ["7"])
            #expect(head?.values(of: "Authorization") == [])
        }
    }

    @Test func newTokenFileIsUsedAtOnce() async throws {
        let server = try ScriptedServer { _, head in
            head.values(of: "Authorization") == ["Bearer T2-PLANTED-token"]
                ? .init() : .init(.refuse(401, body: "T1-PLANTED-token is old"))
        }
        defer { server.close() }
        try await running(reader(server.url(), isWatching: true)) {
            _ = await recorded.first(containing: "waiting for a new token")
            #expect(server.connectionCount == 2)
            folder.replace("token", "T2-PLANTED-token\n")
            _ = await recorded.first(containing: "is connected")
            #expect(server.connectionCount == 3)
        }
        #expect(!recorded.text.contains("PLANTED"))
    }

    struct Refusal: Sendable {
        var answer: ScriptedServer.Answer
        var told: String
        /// Short only where the time-out is what is told: a busy machine takes its time for the rest.
        var timeout = Duration.seconds(15)
    }

    @Test(arguments: [
        Refusal(answer: .drop, told: "closed before it answered"),
        Refusal(answer: .silent, told: "no answer to the WebSocket request in time", timeout: .milliseconds(300)),
        Refusal(
            answer: .trickle(Array("HTTP/1.1 101 Switching".utf8), every: .milliseconds(100)),
            told: "no answer to the WebSocket request in time", timeout: .milliseconds(300)),
        Refusal(answer: .raw(Array("SSH-2.0-OpenSSH_9\r\n".utf8)), told: "not HTTP"),
        Refusal(answer: .refuse(503), told: "answered 503"),
        Refusal(answer: .refuse(200, body: "<html>101</html>"), told: "answered 200"),
        Refusal(answer: .refuse(401, body: "token T1-PLANTED-token is bad"), told: "answered 401"),
        Refusal(
            answer: .refuse(302, headers: [("Location", "ws://127.0.0.1:9002/steal?q=1")]),
            told: "redirect to ws://127.0.0.1:9002, which is not followed"),
        Refusal(
            answer: .raw(
                Array(
                    "HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n"
                        .utf8)),
            told: "does not answer our key"),
        Refusal(answer: .raw(Array("HTTP/1.1 101 OK\r\nConnection: Upgrade\r\n\r\n".utf8)), told: "101 without"),
        Refusal(answer: .raw(Array("HTTP/1.0 101 OK\r\n\r\n".utf8)), told: "HTTP/1.0"),
    ])
    func refusedHandshakeIsToldAndDialledAgain(_ refusal: Refusal) async throws {
        let server = try ScriptedServer { number, _ in number == 1 ? .init(refusal.answer) : .init() }
        defer { server.close() }
        try await running(reader(server.url()) { $0.dialTimeout = refusal.timeout }) {
            let told = await recorded.first(containing: refusal.told)
            #expect(told.message.contains("could not be connected"))
            _ = await recorded.first(containing: "is connected")
        }
        #expect(server.connectionCount == 2)
        #expect(!recorded.text.contains("PLANTED"))
    }

    struct Fault: Sendable {
        var frame: [UInt8]
        var code: UInt16
    }

    @Test(arguments: [
        Fault(frame: [0xC1, 0x02, 0x7B, 0x7D], code: 1002),
        Fault(frame: [0x81, 0x01, 0xFF], code: 1007),
        Fault(frame: [0x81, 0x7E, 0x08, 0x01], code: 1009),
        Fault(frame: [0x01, 0x7F, 0x40, 0, 0, 0, 0, 0, 0, 0], code: 1009),
        Fault(frame: [0x09, 0x00], code: 1002),
    ])
    func brokenFrameIsAnsweredWithItsCode(_ fault: Fault) async throws {
        let server = try ScriptedServer { number, _ in
            number == 1 ? .init(.accept, [.raw(fault.frame)]) : .init(.accept, [.text("again")])
        }
        defer { server.close() }
        try await running(reader(server.url()) { $0.maxMessage = 2048 }) {
            let code = await next(of: server) { if case .close(let code, _) = $0 { code } else { nil } }
            #expect(code == fault.code)
            var messages = handler.messages.makeAsyncIterator()
            #expect(await messages.next() == text("again"))
        }
    }

    @Test func messageAtTheLimitIsTaken() async throws {
        let limit = String(repeating: "x", count: 2048)
        let server = try ScriptedServer { _, _ in .init(.accept, [.text(limit)]) }
        defer { server.close() }
        try await running(reader(server.url()) { $0.maxMessage = 2048 }) {
            var messages = handler.messages.makeAsyncIterator()
            #expect(await messages.next() == text(limit))
        }
    }

    @Test func pingBetweenFragmentsIsAnswered() async throws {
        let server = try ScriptedServer { _, _ in
            .init(.accept, [.raw([0x01, 0x02, 0x68, 0xC3, 0x89, 0x02, 0x68, 0x69])])
        }
        defer { server.close() }
        try await running(reader(server.url())) {
            let pong = await next(of: server) { if case .pong(let payload) = $0 { payload } else { nil } }
            #expect(pong == text("hi"))
            server.perform(.raw([0x00, 0x00, 0x80, 0x01, 0xA9]))
            var messages = handler.messages.makeAsyncIterator()
            #expect(await messages.next() == text("hé"))
        }
    }

    @Test func serverThatStopsAnsweringIsDialledAgain() async throws {
        let server = try ScriptedServer { number, _ in
            number == 1 ? .init(.accept, [.text("one"), .deaf]) : .init(.accept, [.text("two")])
        }
        defer { server.close() }
        let reader = try reader(server.url()) { configuration in
            configuration.ping = .milliseconds(150)
            configuration.pongTimeout = .milliseconds(150)
        }
        await running(reader) {
            var messages = handler.messages.makeAsyncIterator()
            #expect(await messages.next() == text("one"))
            #expect(await messages.next() == text("two"))
        }
        #expect(recorded.text.contains("silent"))
        #expect(recorded.text.contains("events may be missing"))
    }

    @Test func answeredPingsKeepTheConnection() async throws {
        let server = try ScriptedServer()
        defer { server.close() }
        let reader = try reader(server.url()) { configuration in
            configuration.ping = .milliseconds(30)
            configuration.pongTimeout = .milliseconds(5000)
        }
        await running(reader) {
            var pings = 0
            _ = await next(of: server) { record in
                if case .ping = record { pings += 1 }
                return pings == 5 ? true : nil
            }
        }
        #expect(server.connectionCount == 1)
    }

    @Test func closeOfTheServerIsAnswered() async throws {
        let server = try ScriptedServer { number, _ in
            number == 1 ? .init(.accept, [.close(1012, "T1-PLANTED-token\u{1b}[31m restart")]) : .init()
        }
        defer { server.close() }
        try await running(reader(server.url())) {
            let code = await next(of: server) { if case .close(let code, _) = $0 { code } else { nil } }
            #expect(code == 1012)
            let told = await recorded.first(containing: "the server closed: 1012")
            #expect(told.fields.contains { $0.value.contains("<redacted> [31m restart") })
            _ = await recorded.first(containing: "events may be missing")
        }
        #expect(!recorded.text.contains("PLANTED"))
    }

    @Test func connectionWithoutCloseFrameIsDialledAgain() async throws {
        let server = try ScriptedServer { number, _ in .init(.accept, number == 1 ? [.drop] : [.text("two")]) }
        defer { server.close() }
        try await running(reader(server.url())) {
            var messages = handler.messages.makeAsyncIterator()
            #expect(await messages.next() == text("two"))
        }
    }

    @Test func pausedReaderTakesNothingMore() async throws {
        let server = try ScriptedServer { _, _ in .init(.accept, [.text("one")]) }
        defer { server.close() }
        let reader = try reader(server.url())
        handler.onMessage = { reader.pause() }
        await running(reader) {
            var messages = handler.messages.makeAsyncIterator()
            #expect(await messages.next() == text("one"))
            handler.onMessage = nil
            server.perform(.text("two"), .ping(text("p")))
            #expect(reader.status.messages == 1)
            reader.resume()
            #expect(await messages.next() == text("two"))
        }
    }

    @Test func proxyThatNeedsCredentialsIsNamed() async throws {
        let proxy = try ScriptedServer { _, _ in .init(.refuse(407, headers: [("Proxy-Authenticate", "Basic")])) }
        defer { proxy.close() }
        let reader = try reader("wss://s.example.test/ws") { $0.proxy = "http://127.0.0.1:\(proxy.port)" }
        await running(reader) {
            let head = await next(of: proxy) { if case .request(_, let head) = $0 { head } else { nil } }
            #expect(head?.startLine.hasPrefix("CONNECT s.example.test:443 ") == true)
            #expect(head?.values(of: "Authorization") == [])
            _ = await recorded.first(containing: "needs credentials")
        }
    }

    @Test func failingDialsLeaveNoDescriptors() async throws {
        let server = try ScriptedServer { number, _ in
            .init([.drop, .refuse(503), .raw(Array("x\r\n".utf8))][number % 3])
        }
        let reader = try reader(server.url()) {
            $0.redial = RedialPolicy(base: .milliseconds(1), cap: .milliseconds(1))
        }
        await running(reader) {
            _ = await next(of: server) { if case .request(20, _) = $0 { true } else { nil } }
            let before = Self.descriptorCount()
            _ = await next(of: server) { if case .request(320, _) = $0 { true } else { nil } }
            // Other suites of the process open descriptors too; a leak would show as one a dial.
            #expect(Self.descriptorCount() - before < 100)
        }
        server.close()
    }

    private static func descriptorCount() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return -1 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }
}
