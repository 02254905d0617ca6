import GLibRuntime
import Testing

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
        // Not in the expectation itself, which would print millions of bytes.
        let isWhole = atClient.bytes == sent
        #expect(isWhole)

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
