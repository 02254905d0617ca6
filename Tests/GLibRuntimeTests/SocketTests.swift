import GLibRuntime
import Glibc
import Testing

/// A dialled connection and its accepted other end.
@MainLoop
struct ConnectedPair {
    let client: SocketConnection
    let server: SocketConnection
    let listener: SocketListener

    init() async throws {
        let accepted = Published<SocketConnection>()
        listener = try SocketListener { accepted.publish($0) }
        client = try await SocketConnection.dial(DialTarget(host: "127.0.0.1", port: listener.port))
        server = try #require(await accepted.next())
    }
}

@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct SocketTests {
    @Test func bytesGoBothWays() async throws {
        let pair = try await ConnectedPair()
        let atServer = Receiver(pair.server)
        let atClient = Receiver(pair.client)
        pair.client.write(Array("ping".utf8))
        await atServer.waitForBytes(4)
        pair.server.write(Array("pong!".utf8))
        await atClient.waitForBytes(5)
        #expect(atServer.bytes == Array("ping".utf8))
        #expect(atClient.bytes == Array("pong!".utf8))
    }

    @Test func nothingToReadWouldBlock() async throws {
        let pair = try await ConnectedPair()
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(try buffer.withUnsafeMutableBytes { try pair.client.read(into: $0) } == .wouldBlock)
        var span = buffer.mutableSpan
        var raw = span.mutableBytes
        #expect(try pair.client.read(into: &raw) == .wouldBlock)
    }

    @Test func abortIsAnEndOfFileForThePeer() async throws {
        let pair = try await ConnectedPair()
        let atServer = Receiver(pair.server)
        pair.client.abort()
        pair.client.abort()
        await atServer.waitForEnd()
        #expect(atServer.bytes == [])
    }

    @Test func releasedConnectionIsClosed() async throws {
        var pair: ConnectedPair? = try await ConnectedPair()
        let atServer = Receiver(try #require(pair?.server))
        pair = nil
        await atServer.waitForEnd()
    }

    @Test func largeWritesArriveWholeAndInOrder() async throws {
        let pair = try await ConnectedPair()
        // More than the kernel takes for a peer that does not read yet.
        pair.client.unsentLimit = 64 << 20
        var sent: [UInt8] = []
        for index in 0..<50 as Range<UInt8> {
            let block = [UInt8](repeating: index, count: 300_001)
            sent += block
            pair.client.write(block)
        }
        #expect(pair.client.unsentByteCount > 0)
        let atServer = Receiver(pair.server, chunk: 65_536)
        try await pair.client.flushed()
        #expect(pair.client.unsentByteCount == 0)
        await atServer.waitForBytes(sent.count)
        // Not in the expectation itself, which would print millions of bytes.
        let isWhole = atServer.bytes == sent
        #expect(isWhole)
    }

    @Test func tooMuchUnsentEndsTheConnection() async throws {
        let pair = try await ConnectedPair()
        let ends = Published<SocketEnd>()
        pair.client.onEnd = { ends.publish($0) }
        pair.client.unsentLimit = 100_000
        for _ in 0..<400 { pair.client.write([UInt8](repeating: 1, count: 50_000)) }
        #expect(await ends.next() == .tooMuchUnsent(limit: 100_000))
        #expect(pair.client.unsentByteCount == 0)
    }

    @Test func writingToAClosedPeerEndsTheConnection() async throws {
        ProcessSignals.ignoreBrokenPipe()
        let pair = try await ConnectedPair()
        let ends = Published<SocketEnd>()
        pair.client.onEnd = { ends.publish($0) }
        let atClient = Receiver(pair.client)
        pair.server.abort()
        await atClient.waitForEnd()
        // The first write is answered by a reset, which the second one meets.
        let timer = Published<Void>()
        let again = LoopTimer { _ in timer.publish(()) }
        var end: SocketEnd?
        pair.client.onEnd = {
            end = $0; ends.publish($0)
        }
        while end == nil {
            pair.client.write([1])
            again.schedule(after: .milliseconds(1))
            _ = await timer.next()
        }
        guard case .writeFailed = await ends.next() else {
            Issue.record("unexpected end")
            return
        }
    }

    @Test func closeAfterFlushDeliversEverything() async throws {
        let pair = try await ConnectedPair()
        pair.client.write([UInt8](repeating: 7, count: 3_500_000))
        pair.client.closeAfterFlush(deadline: .seconds(30))
        let atServer = Receiver(pair.server, chunk: 65_536)
        await atServer.waitForEnd()
        #expect(atServer.bytes.count == 3_500_000)
    }

    @Test func closeAfterFlushGivesUpOnAPeerThatDoesNotRead() async throws {
        let pair = try await ConnectedPair()
        pair.client.unsentLimit = 64 << 20
        pair.client.write([UInt8](repeating: 7, count: 32 << 20))
        let waiter = Task { @MainLoop in try await pair.client.flushed() }
        pair.client.closeAfterFlush(deadline: .milliseconds(20))
        await #expect(throws: SocketEnd.aborted) { try await waiter.value }
    }

    @Test func pausedReadingLosesNothing() async throws {
        let pair = try await ConnectedPair()
        let atServer = Receiver(pair.server)
        pair.server.pauseReading()
        pair.client.write(Array("held back".utf8))
        // A round trip the other way shows that the loop has turned since.
        let atClient = Receiver(pair.client)
        pair.server.write([1])
        await atClient.waitForBytes(1)
        #expect(atServer.bytes == [])
        pair.server.resumeReading()
        await atServer.waitForBytes(9)
        #expect(atServer.bytes == Array("held back".utf8))
    }

    @Test func unreadBytesAreToldAgain() async throws {
        let pair = try await ConnectedPair()
        let atServer = Receiver(pair.server, chunk: 1)
        pair.client.write(Array("bit by bit".utf8))
        await atServer.waitForBytes(10)
        #expect(atServer.bytes == Array("bit by bit".utf8))
    }

    @Test func timersFireWhileASocketFloods() async throws {
        let pair = try await ConnectedPair()
        pair.client.unsentLimit = 64 << 20
        pair.client.write([UInt8](repeating: 0, count: 16 << 20))
        let fired = Published<Int>()
        let atServer = Receiver(pair.server, chunk: 64)
        let timer = LoopTimer { _ in fired.publish(atServer.bytes.count) }
        timer.schedule(after: .milliseconds(10))
        let seen = await fired.next()
        #expect(seen.map { $0 < 16 << 20 } == true)
    }

    @Test func closedListenerRefuses() async throws {
        let listener = try SocketListener()
        let port = listener.port
        listener.close()
        let error = await #expect(throws: DialError.self) {
            _ = try await SocketConnection.dial(DialTarget(host: "127.0.0.1", port: port))
        }
        #expect(error?.phase == .connecting)
        #expect(error?.description.contains("127.0.0.1:\(port)") == true)
        #expect(error?.description.contains("refused") == true)
    }

    @Test func takenPortIsAnError() async throws {
        let listener = try SocketListener()
        #expect(throws: GLibError.self) { try SocketListener(port: listener.port) }
    }

    @Test func unknownHostIsToldInResolving() async {
        let error = await #expect(throws: DialError.self) {
            _ = try await SocketConnection.dial(DialTarget(host: "no-such-host.invalid", port: 1))
        }
        #expect(error?.phase == .resolving)
    }

    @Test func cancelledDialThrowsAtOnce() async {
        let task = Task { @MainLoop in
            _ = try await SocketConnection.dial(DialTarget(host: "127.0.0.1", port: 9))
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
