import GLibRuntime
import Glibc
import RelayCore
import RelayTestKit
import Testing
import WebSocketCodec

@testable import RelayStream

/// The reader of a stream with its catch-up: pages of a real server, connections that are scripts, virtual time.
@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct CatchUpRunnerTests {
    typealias Server = ScriptedHTTPServer

    let clock = TestClock(CatchUpFixtures.time(100))
    let recorded = RecordedLog()
    let target = RecordingCatchUp(from: CatchUpFixtures.cursor(10))

    /// Makes a reader whose pages come from `server`.
    func reader(
        _ server: ScriptedHTTPServer, token: @escaping @Sendable () -> String = { "tok-PLANTED" },
        dial: @escaping @MainLoop (Int) throws -> ScriptedSocket.Script = { _ in .init() },
        change: (inout CatchUpConfiguration) -> Void = { _ in }
    ) throws -> (StreamReader, ScriptedTransport) {
        let transport = ScriptedTransport(dial)
        var configuration = StreamConfiguration(
            name: "chirp", url: try WebSocketURL("ws://127.0.0.1:9/ws"), token: .environment("TOKEN"))
        configuration.headers = [.init(name: "X-Account", value: .text("7"))]
        configuration.proxy = "direct"
        // Longer than all other waits.
        configuration.ping = .seconds(3600)
        var catchUp = try CatchUpFixtures.configuration(.oldest, url: server.url("/e?after={cursor}"))
        change(&catchUp)
        configuration.catchUp = catchUp
        var surroundings = StreamReader.Surroundings(
            secrets: SecretReader(folder: "") { _ in token() }, clock: clock, log: recorded.log, transport: transport,
            environment: { _ in nil }, generator: SeededGenerator(seed: 11))
        surroundings.isWatching = false
        surroundings.catchUp = .init(handler: target, format: .chirp)
        return (StreamReader(configuration, handler: RecordingHandler(), surroundings: surroundings), transport)
    }

    /// Awaits a wait for a dial or a page, and moves the time to its end; returns how far that was.
    func advanceToRetry() async -> Duration {
        while await clock.nextDeadline() - clock.now() > .seconds(3000), !Task.isCancelled { await Task.yield() }
        return await clock.advanceToNextDeadline()
    }

    nonisolated static func page(_ numbers: some Sequence<Int>, next: String = "null") -> String {
        let items = numbers.map { "{\"id\":\"e\($0)\",\"kind\":\"like\"}" }.joined(separator: ",")
        return "{\"events\":[\(items)],\"next\":\(next)}"
    }

    nonisolated static func answer(_ numbers: some Sequence<Int>, next: String = "null")
        -> ScriptedHTTPServer.Reply
    {
        .send(Server.answer("200 OK", [], page(numbers, next: next)))
    }

    // MARK: What comes

    @Test func pagesAreAskedForWithTheTokenAndHandedOver() async throws {
        let server = try Server { request in
            request.target == "/e?after=e10" ? Self.answer(11...12, next: "\"/p2\"") : Self.answer(13...13)
        }
        defer { server.stop() }
        let (reader, _) = try reader(server)
        await running(reader) { await target.ended() }
        #expect(target.numbers == [11, 12, 13])
        #expect(server.requests.map(\.target) == ["/e?after=e10", "/p2"])
        for request in server.requests {
            #expect(request.method == "GET" && request.header("authorization") == "Bearer tok-PLANTED")
            #expect(request.header("x-account") == "7" && request.header("accept") == "application/json")
        }
        #expect(server.connectionCount == 1)
        #expect(recorded.text.contains("stream chirp has caught up events=3 pages=2"))
        #expect(!recorded.text.contains("gap of"))
    }

    @Test func tokenIsReadAnewForEveryPage() async throws {
        let server = try Server { request in
            Self.answer([request.index + 11], next: request.index < 2 ? "\"/p\(request.index)\"" : "null")
        }
        defer { server.stop() }
        let reads = Locked(0)
        let (reader, _) = try reader(
            server,
            token: {
                reads.withLock { reads in
                    reads += 1
                    return "tok-\(reads)"
                }
            })
        await running(reader) { await target.ended() }
        // The first one is the dial's.
        #expect(server.requests.map { $0.header("authorization") } == (2...4).map { "Bearer tok-\($0)" })
    }

    @Test func nextPageMayBeInTheLink() async throws {
        let server = try Server { request in
            let links = ["Link: </first>; rel=\"first\"", "link: <?page=2>; rel=\"next\""]
            return .send(
                Server.answer("200 OK", request.index == 0 ? links : [], Self.page([request.index + 11], next: "9")))
        }
        defer { server.stop() }
        let (reader, _) = try reader(server, change: { $0.next = .link })
        await running(reader) { await target.ended() }
        #expect(target.numbers == [11, 12])
        #expect(server.requests.map(\.target) == ["/e?after=e10", "/e?page=2"])
    }

    @Test func newestPagesAreHandedOverOldestFirst() async throws {
        let server = try Server { request in
            request.index == 0 ? Self.answer([14, 13], next: "\"c\"") : Self.answer([12, 11, 10, 9], next: "\"d\"")
        }
        defer { server.stop() }
        let (reader, _) = try reader(server, change: { $0.order = .newest })
        await running(reader) { await target.ended() }
        #expect(target.numbers == [11, 12, 13, 14])
        #expect(server.requests.map(\.target) == ["/e?after=e10", "/e?after=c"])
    }

    @Test func manyEventsComeInPieces() async throws {
        let server = try Server { _ in Self.answer(11...2010) }
        defer { server.stop() }
        let (reader, _) = try reader(server)
        await running(reader) { await target.ended() }
        #expect(target.numbers == Array(11...2010))
        #expect(target.pieces.count == 8 && target.pieces.allSatisfy { $0 <= 256 })
    }

    @Test func noContentIsAnEmptyPage() async throws {
        let server = try Server { _ in .send("HTTP/1.1 204 No Content\r\n\r\n") }
        defer { server.stop() }
        let (reader, _) = try reader(server)
        await running(reader) { await target.ended() }
        #expect(recorded.text.contains("has caught up events=0 pages=1"))
    }

    @Test func withoutACursorNothingIsFetchedAndTheGapIsToldAsBefore() async throws {
        let server = try Server { _ in Self.answer([11]) }
        defer { server.stop() }
        target.cursor = nil
        let (reader, transport) = try reader(server)
        await running(reader) {
            _ = await recorded.first(containing: "is connected")
            transport.sockets[0].end()
            _ = await advanceToRetry()
            _ = await recorded.first(containing: "gap of 1s on stream chirp, events may be missing")
        }
        #expect(server.requests.isEmpty)
    }

    @Test func everyConnectionCallsForACatchUp() async throws {
        let server = try Server { request in Self.answer(request.index == 0 ? [11] : [12]) }
        defer { server.stop() }
        let (reader, transport) = try reader(server)
        await running(reader) {
            await target.ended()
            transport.sockets[0].end()
            _ = await recorded.first(containing: "lost its connection")
            _ = await advanceToRetry()
            await target.ended()
        }
        #expect(server.requests.map(\.target) == ["/e?after=e10", "/e?after=e11"])
        #expect(!recorded.text.contains("gap of"))
    }

    // MARK: What does not

    @Test func failureIsRetriedBesideTheLiveConnection() async throws {
        let server = try Server { request in
            switch request.index {
            case 0: .send(Server.answer("500 Oops", [], "tok-PLANTED"))
            case 1: .send(Server.answer("429 Slow", ["Retry-After: 20"]))
            default: Self.answer([11])
            }
        }
        defer { server.stop() }
        let (reader, transport) = try reader(server)
        await running(reader) {
            let first = await recorded.first(containing: "could not fetch what it missed")
            #expect(first.fields.contains { $0.value.contains("the server answered 500") })
            #expect(reader.status.isCatchingUp && reader.status.catchUpError?.contains("500") == true)
            #expect(await advanceToRetry() <= .seconds(1))
            let second = await recorded.first(containing: "the server answered 429")
            #expect(second.fields.contains { $0.name == "nextTry" && $0.value.hasPrefix("2") })
            #expect(await advanceToRetry() >= .seconds(20))
            await target.ended()
            #expect(!reader.status.isCatchingUp && reader.status.catchUpError == nil)
        }
        #expect(target.numbers == [11] && transport.dials == 1)
        #expect(!recorded.text.contains("PLANTED"))
    }

    @Test func pageThatTakesTooLongIsAFailure() async throws {
        let server = try Server { _ in .hang }
        defer { server.stop() }
        let (reader, _) = try reader(server, change: { $0.pageTimeout = .milliseconds(100) })
        await running(reader) { _ = await recorded.first(containing: "did not answer within 100ms") }
        #expect(target.numbers.isEmpty)
    }

    @Test func stopDoesNotWaitForAPage() async throws {
        let server = try Server { _ in .hang }
        defer { server.stop() }
        let (reader, _) = try reader(server)
        await running(reader) {
            var events = server.events.makeAsyncIterator()
            _ = await events.next()
        }
        #expect(reader.status.state == .disconnected)
    }

    @Test func refusedTokenIsWaitedFor() async throws {
        let server = try Server { request in
            request.index < 2 ? .send(Server.answer("401 No", [], "{\"bad\":\"tok-PLANTED\"}")) : Self.answer([11])
        }
        defer { server.stop() }
        let (reader, _) = try reader(server)
        await running(reader) {
            _ = await recorded.first(containing: "the server answered 401")
            #expect(await advanceToRetry() <= .seconds(1))
            var events = server.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()
            while await clock.nextDeadline() - clock.now() > .seconds(3000), !Task.isCancelled { await Task.yield() }
            clock.advance(by: .seconds(2))
            reader.tokenChanged()
            await target.ended()
        }
        #expect(!recorded.text.contains("PLANTED"))
    }

    @Test func pauseHoldsBackEvents() async throws {
        let server = try Server { _ in Self.answer(11...600) }
        defer { server.stop() }
        let (reader, _) = try reader(server)
        target.onPiece = { if $0 == 1 { reader.pause() } }
        await running(reader) {
            await target.piece()
            // Everything that could be handed over by mistake has its turn before this.
            for _ in 0..<100 { await Task.yield() }
            #expect(target.numbers.count == 256)
            reader.resume()
            await target.ended()
        }
        #expect(target.numbers == Array(11...600))
    }

    @Test func catchUpGoesOnOverALostConnectionAndBeginsAnewBehindIt() async throws {
        let gate = Locked(false)
        let server = try Server { request in
            if request.index == 0 { while !gate.withLock({ $0 }) { sched_yield() } }
            return Self.answer([request.index + 11])
        }
        defer { server.stop() }
        let (reader, transport) = try reader(server)
        await running(reader) {
            var events = server.events.makeAsyncIterator()
            _ = await events.next()
            transport.sockets[0].end()
            _ = await recorded.first(containing: "lost its connection")
            _ = await advanceToRetry()
            while target.beginnings < 2, !Task.isCancelled { await Task.yield() }
            gate.withLock { $0 = true }
            await target.ended()
        }
        #expect(server.requests.map(\.target) == ["/e?after=e10", "/e?after=e11"])
        #expect(target.numbers == [11, 12] && target.endings == 1)
    }
}

/// Keeps what a catch-up brings and lets a test await its end.
@MainLoop
final class RecordingCatchUp: CatchUpHandler {
    var cursor: StreamCursor?
    private(set) var numbers: [Int] = []
    private(set) var pieces: [Int] = []
    private(set) var beginnings = 0
    private(set) var endings = 0
    var onPiece: ((Int) -> Void)?
    private let endBell = Doorbell()
    private let pieceBell = Doorbell()

    init(from cursor: StreamCursor?) {
        self.cursor = cursor
    }

    func catchUpBegan() -> StreamCursor? {
        beginnings += 1
        return cursor
    }

    func caughtUp(_ batch: EventBatch) {
        numbers += CatchUpFixtures.numbers([batch])
        pieces.append(batch.records.count)
        cursor = StreamCursor(lastOf: batch) ?? cursor
        onPiece?(pieces.count)
        pieceBell.ring()
    }

    func catchUpEnded() {
        endings += 1
        endBell.ring()
    }

    func ended() async { await endBell.wait() }

    func piece() async { await pieceBell.wait() }
}
