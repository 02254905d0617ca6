import GLibRuntime
import RelayCore
import RelayTestKit
import Testing
import WebSocketCodec

@testable import RelayStream

/// The reader under a virtual clock, over sockets that are scripts.
@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct StreamReaderTests {
    private let clock = TestClock()
    private let recorded = RecordedLog()

    private func reader(
        token: String = "tok-PLANTED-1", path: String = "/ws", _ handler: RecordingHandler = RecordingHandler(),
        _ dial: @escaping @MainLoop (Int) throws -> ScriptedSocket.Script
    ) throws -> (StreamReader, ScriptedTransport) {
        let transport = ScriptedTransport(dial)
        var configuration = StreamConfiguration(
            name: "chirp", url: try WebSocketURL("ws://127.0.0.1:9" + path), token: .environment("TOKEN"))
        configuration.authCloseCodes = [4001]
        var surroundings = StreamReader.Surroundings(
            secrets: SecretReader(folder: "") { _ in token }, clock: clock, log: recorded.log, transport: transport,
            environment: { _ in nil }, generator: SeededGenerator(seed: 11))
        surroundings.isWatching = false
        return (StreamReader(configuration, handler: handler, surroundings: surroundings), transport)
    }

    private func closeFrame(_ code: UInt16, _ reason: String = "") -> [UInt8] {
        var frame: [UInt8] = []
        FrameEncoder.appendClose(code, reason: reason, maskedWith: nil, to: &frame)
        return frame
    }

    @Test func serverThatClosesEachTimeIsLeftMoreAndMoreAlone() async throws {
        let frame = closeFrame(1011, "boom")
        let (reader, transport) = try reader { _ in .init(frames: frame, endsAfterClose: true) }
        var waits: [Duration] = []
        await running(reader) {
            for _ in 0..<60 { waits.append(await clock.advanceToNextDeadline()) }
        }
        #expect(transport.dials >= 60)
        for (attempt, wait) in waits.enumerated() {
            let longest = Duration.seconds(min(30, 1 << min(attempt, 10)))
            #expect(wait >= longest / 2 && wait <= longest, "attempt \(attempt): \(wait)")
        }
        #expect(waits.suffix(10).allSatisfy { $0 >= .seconds(15) })
        let told = recorded.entries.filter { $0.level <= .warning && $0.message.contains("lost its connection") }
        #expect(told.count == 1, "repeats are thinned")
    }

    @Test func refusedTokenIsToldOnceAndPolledSlowly() async throws {
        let body = "{\"error\":\"invalid token tok-PLANTED-1\"}"
        let (reader, transport) = try reader { _ in .init(refusal: 401, body: body) }
        let end = clock.now() + .seconds(3600)
        await running(reader) {
            while clock.now() < end { await clock.advanceToNextDeadline() }
            #expect(reader.status.isRefused)
            #expect(reader.status.state == .reconnecting)
        }
        #expect(transport.dials <= 15)
        let told = recorded.entries.filter { $0.level <= .info && $0.message.contains("refused") }
        #expect(told.count == 1)
        #expect(recorded.text.contains("401"))
        #expect(!recorded.text.contains("PLANTED"))
    }

    @Test(arguments: [
        "SSH-2.0 Bearer tok-PLANTED-1\r\n", "no token: key-PLANT", "GET /ws?key=key-PLANTED-2 HTTP/1.1\r\n\r\n",
    ])
    func answerThatIsNotHTTPShowsNoSecret(_ garbage: String) async throws {
        let (reader, _) = try reader(path: "/ws?key=key-PLANTED-2") { _ in .init(garbage: garbage) }
        await running(reader) { _ = await recorded.first(containing: "could not be connected") }
        #expect(recorded.text.contains("the answer is not HTTP"))
        #expect(!recorded.text.contains("PLANT"))
    }

    @Test func closeReasonAndHandlerAreKeptFromSecretsOfTheAddress() async throws {
        let frame = closeFrame(1011, "no such key: key-PLANTED-2")
        let handler = RecordingHandler()
        let (reader, _) = try reader(path: "/ws?v=1&key=key-PLANTED-2", handler) { _ in .init(frames: frame) }
        await running(reader) { _ = await recorded.first(containing: "lost its connection") }
        #expect(recorded.text.contains("no such key: <redacted>"))
        #expect(handler.secrets == [Secret("tok-PLANTED-1"), Secret("key-PLANTED-2")])
    }

    @Test func newTokenEndsTheSlowWaitAtOnce() async throws {
        let (reader, transport) = try reader { dial in
            dial < 4 ? .init(refusal: 401) : .init()
        }
        await running(reader) {
            await clock.advanceToNextDeadline()
            await clock.advanceToNextDeadline()
            let due = await clock.nextDeadline()
            #expect(due - clock.now() >= .seconds(285))
            clock.advance(by: .seconds(5))
            let before = clock.now()
            reader.tokenChanged()
            _ = await recorded.first(containing: "is connected")
            #expect(clock.now() == before)
        }
        #expect(transport.dials == 4)
    }

    @Test func networkThatComesBackEndsTheWait() async throws {
        let (reader, transport) = try reader { dial in
            if dial < 9 { throw GLibError(domain: "test", code: 1, message: "network unreachable") }
            return .init()
        }
        await running(reader) {
            for _ in 0..<7 { await clock.advanceToNextDeadline() }
            let due = await clock.nextDeadline()
            #expect(due - clock.now() > .seconds(10))
            clock.advance(by: .seconds(2))
            reader.networkCameBack()
            _ = await recorded.first(containing: "is connected")
        }
        #expect(transport.dials == 9)
    }

    @Test(arguments: [429, 503])
    func serverThatAsksToWaitIsObeyed(_ status: Int) async throws {
        let (reader, _) = try reader { dial in
            dial == 1 ? .init(refusal: status, headers: [("Retry-After", "50")], body: "slow!") : .init()
        }
        await running(reader) {
            let wait = await clock.advanceToNextDeadline()
            #expect(wait >= .seconds(50) && wait <= .seconds(56))
            _ = await recorded.first(containing: "is connected")
        }
    }

    @Test func policyCloseCountsAsRefusal() async throws {
        let frames = [closeFrame(1008), closeFrame(4001)]
        let (reader, _) = try reader { dial in .init(frames: frames[dial % 2], endsAfterClose: true) }
        await running(reader) {
            #expect(await clock.advanceToNextDeadline() <= .seconds(1))
            #expect(await clock.advanceToNextDeadline() >= .seconds(285))
        }
    }

    @Test func silentServerIsPingedAndDropped() async throws {
        let (reader, transport) = try reader { _ in .init() }
        await running(reader) {
            #expect(await clock.advanceToNextDeadline() == .seconds(30))
            #expect(await clock.advanceToNextDeadline() == .seconds(10))
            let lost = await recorded.first(containing: "lost its connection")
            #expect(lost.fields.contains { $0.value.contains("silent") })
            #expect(transport.sockets[0].isDropped)
            #expect(await clock.advanceToNextDeadline() <= .seconds(1))
            _ = await recorded.first(containing: "gap of 41s on stream chirp, events may be missing")
        }
    }

    @Test func returnFromSuspendDialsAtOnce() async throws {
        let (reader, transport) = try reader { _ in .init() }
        await running(reader) {
            _ = await clock.nextDeadline()
            clock.advance(by: .seconds(7200))
            let before = clock.now()
            _ = await recorded.first(containing: "did not outlive a suspend")
            _ = await recorded.first(containing: "gap of 2h")
            #expect(clock.now() == before)
        }
        #expect(transport.dials == 2)
    }

    @Test func pauseStopsLivenessAndEndsInClose() async throws {
        let (reader, transport) = try reader { _ in .init() }
        await running(reader) {
            _ = await clock.nextDeadline()
            reader.pause()
            // The pause began with the silence, so both end at the same instant: only the pause counts.
            #expect(await clock.advanceToNextDeadline() == .seconds(30))
            _ = await recorded.first(containing: "no event could be stored")
            #expect(transport.sockets[0].sent == [1013])
            #expect(transport.dials == 1)
            reader.resume()
            await clock.advanceToNextDeadline()
            _ = await recorded.first(containing: "gap of")
        }
        #expect(transport.dials == 2)
    }

    @Test func silentHandshakeEndsAtItsDeadline() async throws {
        let (reader, _) = try reader { _ in .init(isSilent: true) }
        await running(reader) {
            #expect(await clock.advanceToNextDeadline() == .seconds(15))
            _ = await recorded.first(containing: "no answer to the WebSocket request in time")
        }
    }

    @Test func unreadableTokenIsARefusal() async throws {
        let (reader, transport) = try reader(token: "bad\r\ntoken") { _ in .init() }
        await running(reader) {
            #expect(await clock.advanceToNextDeadline() <= .seconds(1))
            #expect(await clock.advanceToNextDeadline() >= .seconds(285))
        }
        #expect(transport.dials == 0)
        #expect(recorded.text.contains("environment variable TOKEN"))
    }

    @Test func statusTellsStateAndCause() async throws {
        let (reader, _) = try reader { dial in
            if dial == 1 { throw GLibError(domain: "test", code: 1, message: "connection refused") }
            return .init()
        }
        #expect(reader.status.state == .disconnected)
        await running(reader) {
            let due = await clock.nextDeadline()
            let waiting = reader.status
            #expect(waiting.state == .reconnecting)
            #expect(waiting.nextDialAt == due)
            #expect(waiting.lastError?.contains("connection refused") == true)
            #expect(waiting.attempts == 1)
            await clock.advanceToNextDeadline()
            _ = await recorded.first(containing: "is connected")
            #expect(reader.status.state == .connected)
            #expect(reader.status.connections == 1)
        }
        #expect(reader.status.state == .disconnected)
        #expect(reader.status.cause == "stopped")
    }
}

/// Runs a reader beside `body` and stops it after.
@MainLoop
func running(_ reader: StreamReader, _ body: @MainLoop () async throws -> Void) async rethrows {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await reader.run() }
        defer { group.cancelAll() }
        try await body()
    }
}
