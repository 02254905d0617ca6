import Foundation
import GLibRuntime
import HTTPClient
import RelayTestKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct HTTPClientTLSTests {
    /// An authority and two certificates in a folder that goes with the value.
    final class Certificates: Sendable {
        let folder: String

        init() async throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "http-tls-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
            func make(_ name: String, _ words: [String]) async throws {
                let files = ["-keyout", file("\(name).key"), "-out", file("\(name).pem")]
                _ = try await CommandOutput.read(
                    ["openssl", "req", "-x509"] + key + files + words, timeout: .seconds(30))
            }
            try await make("ca", ["-subj", "/CN=Test CA"])
            let signed = ["-CA", file("ca.pem"), "-CAkey", file("ca.key")]
            try await make("right", signed + ["-subj", "/CN=right", "-addext", "subjectAltName=IP:127.0.0.1"])
            try await make("wrong", signed + ["-subj", "/CN=wrong", "-addext", "subjectAltName=DNS:other.test"])
        }

        deinit {
            try? FileManager.default.removeItem(atPath: folder)
        }

        func file(_ name: String) -> String { "\(folder)/\(name)" }

        func pair(_ name: String) -> SocketListener.Certificate {
            SocketListener.Certificate(certificateFile: file("\(name).pem"), keyFile: file("\(name).key"))
        }
    }

    /// A listener that answers every piece of a request with 204, and keeps its connections.
    @MainLoop private final class Listener {
        var listener: SocketListener?
        var connections: [SocketConnection] = []
        var port: UInt16 { listener?.port ?? 0 }

        init(_ certificate: SocketListener.Certificate) throws {
            listener = try SocketListener(certificate: certificate) { [weak self] connection in
                self?.connections.append(connection)
                connection.startReading { [weak connection] in
                    guard let connection else { return }
                    var buffer = [UInt8](repeating: 0, count: 4096)
                    guard case .bytes? = try? buffer.withUnsafeMutableBytes({ try connection.read(into: $0) }) else {
                        return connection.pauseReading()
                    }
                    connection.write(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))
                }
            }
        }
    }

    private func send(_ url: String, authority: String? = nil) async -> Result<HTTPResponse, HTTPFailure> {
        await HTTPClient().send(
            HTTPRequest(
                .post, url: url, headers: [("Authorization", "Bearer T")], timeout: .seconds(20), proxy: .none,
                tls: HTTPRequest.TLS(authorityFile: authority)))
    }

    private func failure(_ result: Result<HTTPResponse, HTTPFailure>) -> HTTPFailure? {
        if case .failure(let failure) = result { failure } else { nil }
    }

    @Test func certificatesDecide() async throws {
        let certificates = try await Certificates()
        let right = try await Listener(certificates.pair("right"))
        let url = "https://127.0.0.1:\(await right.port)/PATH"

        let trusted = await send(url, authority: certificates.file("ca.pem"))
        #expect(try trusted.get().status == 204)

        let unknown = failure(await send(url))
        #expect(unknown?.kind == .tls)
        #expect(
            unknown?.sentence.hasSuffix("SSL certificate problem: unable to get local issuer certificate") == true,
            "\(unknown?.sentence ?? "")")

        let wrong = try await Listener(certificates.pair("wrong"))
        let mismatch = failure(
            await send("https://127.0.0.1:\(await wrong.port)/PATH", authority: certificates.file("ca.pem")))
        #expect(mismatch?.kind == .tls)
        #expect(
            mismatch?.sentence.contains("no alternative certificate subject name matches") == true,
            "\(mismatch?.sentence ?? "")")
        #expect(mismatch?.sentence.contains("PATH") == false)
        withExtendedLifetime(certificates) {}
    }

    @Test func absentAuthorityFileIsAFaultOfTheRequest() async throws {
        let server = try ScriptedHTTPServer { _ in .close }
        defer { server.stop() }
        let failure = failure(await send(server.url("/PATH", scheme: "https"), authority: "/nonexistent/ca.pem"))
        #expect(failure?.kind == .invalid, "\(failure?.sentence ?? "")")
    }

    @Test func silentHandshakeTimesOut() async throws {
        let server = try ScriptedHTTPServer { _ in .send("HTTP/1.1 400 Bad Request\r\n\r\n") }
        defer { server.stop() }
        let request = HTTPRequest(
            .get, url: server.url("/PATH", scheme: "https"), timeout: .seconds(1), proxy: .none)
        // The server waits for the end of a request that never comes, in the middle of the handshake.
        let failure = failure(await HTTPClient().send(request))
        #expect(failure?.kind == .timeout)
        #expect(failure?.sentence == "no connection to 127.0.0.1:\(server.port) within 1s")
    }
}
