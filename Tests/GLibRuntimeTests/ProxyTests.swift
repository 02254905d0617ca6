import GLibRuntime
import Testing

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
                // Lets go of this closure, which holds the connection.
                connection.startReading {}
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
        let accepted = Published<SocketConnection>()
        let listener = try SocketListener { accepted.publish($0) }
        let options = ProxyOptions(host: "127.0.0.1", port: listener.port)
        let error = await #expect(throws: DialError.self) {
            _ = try await SocketConnection.dial(
                DialTarget(host: "chirp.test", port: 443, proxy: options), deadline: .seconds(1))
        }
        #expect(error?.cause == .timedOut)
        #expect(error?.phase == .proxy)
        let atServer = Receiver(try #require(await accepted.next()))
        await atServer.waitForEnd()
        #expect(String(decoding: atServer.bytes, as: UTF8.self).utf8.starts(with: "CONNECT chirp.test:443 ".utf8))
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
