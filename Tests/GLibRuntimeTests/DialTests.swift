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
                DialTarget(host: "127.0.0.1", port: hole.port), deadline: .milliseconds(100))
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
            _ = try await SocketConnection.dial(target, deadline: .milliseconds(100))
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

@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct TLSTests {
    private func target(_ listener: SocketListener, name: String = "localhost", ca: String?) -> DialTarget {
        DialTarget(host: "127.0.0.1", port: listener.port, tls: TLSOptions(serverName: name, caFile: ca))
    }

    private func refusal(_ target: DialTarget) async -> [String] {
        let error = await #expect(throws: DialError.self) { _ = try await SocketConnection.dial(target) }
        #expect(error?.phase == .tls)
        #expect(error?.description.contains("127.0.0.1") == true)
        guard case .certificate(let reasons) = error?.cause else {
            Issue.record("\(String(describing: error))")
            return []
        }
        return reasons
    }

    @Test func trustedPeerIsSpokenTo() async throws {
        let certificates = try await Certificates()
        let accepted = Published<SocketConnection>()
        let listener = try SocketListener(certificate: try await certificates.issue(host: "localhost")) {
            accepted.publish($0)
        }
        let client = try await SocketConnection.dial(target(listener, ca: certificates.caFile))
        let server = try #require(await accepted.next())

        // Chunks smaller than a TLS record: the rest of a record is not to be seen on the socket.
        let atClient = Receiver(client, chunk: 100)
        let sent = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        server.write(sent)
        await atClient.waitForBytes(sent.count)
        #expect(atClient.bytes == sent)

        // Paused in the middle of a record, resumed with nothing more on the wire.
        client.pauseReading()
        server.write([UInt8](repeating: 1, count: 10_000))
        client.resumeReading()
        await atClient.waitForBytes(sent.count + 150)
        client.pauseReading()
        try await server.flushed()
        client.resumeReading()
        await atClient.waitForBytes(sent.count + 10_000)

        let atServer = Receiver(server, chunk: 65_536)
        client.write([UInt8](repeating: 9, count: 3_000_000))
        try await client.flushed()
        await atServer.waitForBytes(3_000_000)
        #expect(atServer.bytes.count == 3_000_000)
        client.abort()
        await atServer.waitForEnd()
    }

    @Test func wrongHostIsNamed() async throws {
        let certificates = try await Certificates()
        let listener = try SocketListener(certificate: try await certificates.issue(host: "elsewhere.test"))
        #expect(await refusal(target(listener, ca: certificates.caFile)) == ["wrong host"])
    }

    @Test func expiryIsNamedWithItsDate() async throws {
        let certificates = try await Certificates()
        let listener = try SocketListener(
            certificate: try await certificates.issue(host: "localhost", to: "20211231120000Z"))
        #expect(await refusal(target(listener, ca: certificates.caFile)) == ["expired 2021-12-31"])
    }

    @Test func selfSignedIsAnUnknownAuthority() async throws {
        let certificates = try await Certificates()
        let listener = try SocketListener(certificate: try await certificates.selfSigned(host: "localhost"))
        #expect(await refusal(target(listener, ca: certificates.caFile)) == ["unknown authority"])
        #expect(await refusal(target(listener, ca: nil)) == ["unknown authority"])
    }

    @Test func privateAuthorityIsUnknownToTheSystem() async throws {
        let certificates = try await Certificates()
        let listener = try SocketListener(certificate: try await certificates.issue(host: "localhost"))
        #expect(await refusal(target(listener, ca: nil)) == ["unknown authority"])
    }

    @Test func absentAuthorityFileIsNamed() async throws {
        let listener = try SocketListener()
        let error = await #expect(throws: DialError.self) {
            _ = try await SocketConnection.dial(target(listener, ca: "/nowhere/ca.pem"))
        }
        #expect(error?.description.contains("/nowhere/ca.pem") == true)
    }

    @Test func peerWithoutTLSIsAFailedHandshake() async throws {
        let listener = try SocketListener { $0.write(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)) }
        let error = await #expect(throws: DialError.self) {
            _ = try await SocketConnection.dial(target(listener, ca: nil))
        }
        #expect(error?.phase == .tls)
    }
}

@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct ProxyTests {
    /// Answers one request after its head has come; the rest of the connection is the test's.
    private func proxy(
        answering answer: String, _ requests: Published<(String, SocketConnection)>
    ) throws -> SocketListener {
        try SocketListener { connection in
            var head: [UInt8] = []
            connection.startReading {
                var buffer = [UInt8](repeating: 0, count: 1024)
                guard
                    case .bytes(let count)? = try? buffer.withUnsafeMutableBytes({ try connection.read(into: $0) })
                else { return connection.pauseReading() }
                head.append(contentsOf: buffer[..<count])
                let text = String(decoding: head, as: UTF8.self)
                guard text.utf8.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return }
                connection.pauseReading()
                connection.write(Array(answer.utf8))
                requests.publish((text, connection))
            }
        }
    }

    @Test func tunnelIsAskedForWithCredentials() async throws {
        let requests = Published<(String, SocketConnection)>()
        let listener = try proxy(answering: "HTTP/1.1 200 Connection established\r\n\r\n", requests)
        let options = ProxyOptions(host: "127.0.0.1", port: listener.port, user: "us:er", password: "p@ss/w")
        let client = try await SocketConnection.dial(DialTarget(host: "chirp.test", port: 4443, proxy: options))
        let (head, server) = try #require(await requests.next())
        #expect(head.utf8.starts(with: "CONNECT chirp.test:4443 HTTP/1.".utf8))
        #expect(head.contains(Base64.encode(Array("us:er:p@ss/w".utf8))))
        let atClient = Receiver(client)
        server.write(Array("through".utf8))
        await atClient.waitForBytes(7)
        #expect(atClient.bytes == Array("through".utf8))
    }

    @Test(arguments: ["HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "HTTP/1.1 403 No\r\n\r\n", "junk\r\n\r\n"])
    func refusalIsToldWithoutThePassword(answer: String) async throws {
        let requests = Published<(String, SocketConnection)>()
        let listener = try proxy(answering: answer, requests)
        let options = ProxyOptions(host: "127.0.0.1", port: listener.port, user: "user", password: "SECRET-pw")
        let target = DialTarget(host: "chirp.test", port: 443, proxy: options)
        let error = await #expect(throws: DialError.self) { _ = try await SocketConnection.dial(target) }
        #expect(error?.phase == .proxy)
        #expect(error?.description.contains("SECRET") == false)
        #expect(!"\(target)".contains("SECRET"))
        #expect(!String(reflecting: target).contains("SECRET"))
    }

    @Test func silentProxyEndsAtTheDeadline() async throws {
        let listener = try SocketListener()
        let options = ProxyOptions(host: "127.0.0.1", port: listener.port)
        let error = await #expect(throws: DialError.self) {
            _ = try await SocketConnection.dial(
                DialTarget(host: "chirp.test", port: 443, proxy: options), deadline: .milliseconds(100))
        }
        #expect(error?.cause == .timedOut)
        #expect(error?.phase == .proxy)
    }

    @Test func tlsGoesThroughTheTunnel() async throws {
        let certificates = try await Certificates()
        let accepted = Published<SocketConnection>()
        let inner = try SocketListener(certificate: try await certificates.issue(host: "chirp.test")) {
            accepted.publish($0)
        }
        let requests = Published<(String, SocketConnection)>()
        let listener = try proxy(answering: "HTTP/1.1 200 OK\r\n\r\n", requests)
        let target = DialTarget(
            host: "chirp.test", port: 443, tls: TLSOptions(serverName: "chirp.test", caFile: certificates.caFile),
            proxy: ProxyOptions(host: "127.0.0.1", port: listener.port))
        let dial = Task { @MainLoop in try await SocketConnection.dial(target) }
        let (_, near) = try #require(await requests.next())
        let far = try await SocketConnection.dial(DialTarget(host: "127.0.0.1", port: inner.port))
        relay(near, far)
        relay(far, near)
        let client = try await dial.value
        let server = try #require(await accepted.next())
        let atServer = Receiver(server)
        client.write(Array("inside".utf8))
        await atServer.waitForBytes(6)
        #expect(atServer.bytes == Array("inside".utf8))
    }

    private func relay(_ source: SocketConnection, _ destination: SocketConnection) {
        source.startReading { [weak source, weak destination] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            switch try? buffer.withUnsafeMutableBytes({ try source?.read(into: $0) ?? .endOfFile }) {
            case .bytes(let count)?: destination?.write(Array(buffer[..<count]))
            case .wouldBlock?: break
            case .endOfFile?, nil: source?.pauseReading()
            }
        }
    }
}
