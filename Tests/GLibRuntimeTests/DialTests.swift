import GLibRuntime
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct DialTests {
    @Test func blackHoleEndsAtTheDeadline() async throws {
        let hole = try BlackHole()
        let start = ContinuousClock.now
        let error = await #expect(throws: DialError.self) {
            _ = try await SocketConnection.dial(
                DialTarget(host: "127.0.0.1", port: hole.port), deadline: .seconds(1))
        }
        #expect(error?.cause == .timedOut)
        #expect(error?.phase == .connecting)
        #expect(ContinuousClock.now - start < .seconds(10))
        withExtendedLifetime(hole) {}
    }

    @Test func cancelEndsADialIntoABlackHole() async throws {
        let hole = try BlackHole()
        let started = Published<Void>()
        let task = Task { @MainLoop in
            started.publish(())
            _ = try await SocketConnection.dial(DialTarget(host: "127.0.0.1", port: hole.port), deadline: .seconds(50))
        }
        _ = await started.next()
        let start = ContinuousClock.now
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(ContinuousClock.now - start < .seconds(10))
        withExtendedLifetime(hole) {}
    }

    @Test func silentTLSPeerEndsAtTheDeadline() async throws {
        let accepted = Published<SocketConnection>()
        let listener = try SocketListener { accepted.publish($0) }
        let target = DialTarget(host: "127.0.0.1", port: listener.port, tls: TLSOptions(serverName: "localhost"))
        let error = await #expect(throws: DialError.self) {
            _ = try await SocketConnection.dial(target, deadline: .seconds(1))
        }
        #expect(error?.cause == .timedOut)
        #expect(error?.phase == .tls)
        // The abandoned socket is closed, not kept by the handshake.
        let atServer = Receiver(try #require(await accepted.next()))
        await atServer.waitForEnd()
    }

    @Test func cancelEndsATLSHandshake() async throws {
        let accepted = Published<SocketConnection>()
        let listener = try SocketListener { accepted.publish($0) }
        let target = DialTarget(host: "127.0.0.1", port: listener.port, tls: TLSOptions(serverName: "localhost"))
        let task = Task { @MainLoop in _ = try await SocketConnection.dial(target, deadline: .seconds(50)) }
        let server = try #require(await accepted.next())
        let atServer = Receiver(server)
        await atServer.waitForBytes(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await atServer.waitForEnd()
    }

    @Test func failedDialsLeaveNoDescriptor() async throws {
        let closed = try SocketListener()
        let port = closed.port
        closed.close()
        let hole = try BlackHole()
        let plain = try SocketListener { $0.abort() }
        let targets = [
            DialTarget(host: "127.0.0.1", port: port),
            DialTarget(host: "127.0.0.1", port: hole.port),
            DialTarget(host: "127.0.0.1", port: plain.port, tls: TLSOptions(serverName: "localhost")),
            DialTarget(host: "x", port: 1, proxy: ProxyOptions(host: "127.0.0.1", port: plain.port)),
        ]
        func failAll() async {
            for target in targets {
                await #expect(throws: DialError.self) {
                    _ = try await SocketConnection.dial(target, deadline: .milliseconds(30))
                }
            }
        }
        // Other suites open descriptors meanwhile, so the growth is compared with the number of dials.
        for _ in 0..<3 { await failAll() }
        let before = openDescriptorCount()
        for _ in 0..<50 { await failAll() }
        #expect(openDescriptorCount() - before < 50)
        withExtendedLifetime(hole) {}
    }
}
