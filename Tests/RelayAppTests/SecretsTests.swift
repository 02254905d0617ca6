import GLibRuntime
import Glibc
import RelayTestKit
import Testing
import WebSocketCodec

/// Secrets that servers throw back in every way are in no output, at the most verbose level.
@Suite(.timeLimit(.minutes(2)))
@MainLoop
struct SecretsTests {
    private nonisolated static let token = "PLANTED-token-1f8e"
    private static let environment = [
        "CHIRP_TOKEN": token, "X_KEY": "PLANTED-key-77ac", "HOOK_TOKEN": "Bearer PLANTED-hook-token",
    ]

    private func stream(_ name: String, _ url: String) -> String {
        """
        "\(name)": {"url": "\(url)", "token": {"env": "CHIRP_TOKEN"}, "headers": {"X-Key": {"env": "X_KEY"}},
          "redial": {"base": "100ms", "cap": "100ms"}}
        """
    }

    private func sink(_ name: String, variable: String) -> String {
        """
        "\(name)": {"type": "webhook", "url": {"env": "\(variable)"}, "headers": {"Authorization": {"env": "HOOK_TOKEN"}}}
        """
    }

    /// A server that answers a handshake with everything it was given.
    private func echoing(_ answer: @escaping @Sendable (String) -> ScriptedServer.Script) throws -> ScriptedServer {
        try ScriptedServer { _, head in
            let given = head.values(of: "Authorization") + head.values(of: "X-Key")
            return answer(given.joined(separator: " "))
        }
    }

    @Test func noOutputHasThem() async throws {
        let refusing = try echoing { .init(.refuse(401, headers: [("WWW-Authenticate", $0)], body: "no: \($0)")) }
        let redirecting = try echoing {
            .init(.refuse(302, headers: [("Location", "ws://h/?t=\(Self.token)")], body: $0))
        }
        let closing = try echoing { .init(.accept, [.close(1008, "bad \($0)".prefix(120).description)]) }
        let complaining = try echoing { .init(.accept, [.text(#"{"error":"the token \#($0) is old"}"#)]) }
        let babbling = try echoing { .init(.accept, [.text("\($0) is no JSON")]) }
        let breaking = try echoing { .init(.raw(Array("HTTP/1.1 \($0)\r\nX: \($0)\r\n\r\n".utf8))) }
        let sending = try ScriptedServer { _, _ in .init(.accept, [.text(Rules.event(1))]) }
        let servers = [refusing, redirecting, closing, complaining, babbling, breaking, sending]
        let failing = try ScriptedHTTPServer { request in
            let told = request.headers.map(\.value).joined(separator: " ") + request.target
            return .send(ScriptedHTTPServer.answer("500 \(told)", ["Retry-After: x\(told)"], told))
        }
        let moving = try ScriptedHTTPServer { request in
            .send(ScriptedHTTPServer.answer("302 Found", ["Location: http://PLANTED-hook-token.test\(request.target)"]))
        }
        let refusingHook = try ScriptedHTTPServer { request in
            .send(ScriptedHTTPServer.answer("401 No", [], request.headers.map(\.value).joined() + request.target))
        }
        defer {
            for server in servers { server.close() }
            for server in [failing, moving, refusingHook] { server.stop() }
        }
        var test = try EndToEnd()
        test.environment = Self.environment
        test.environment.merge([
            "FAILING": failing.url("/PLANTED-path?k=PLANTED-query"), "MOVING": moving.url("/PLANTED-path"),
            "REFUSING": refusingHook.url("/PLANTED-path"),
            "CLOSED": "http://PLANTED-user:PLANTED-pass@127.0.0.1:1/PLANTED-path",
            "NO_TLS": "https://127.0.0.1:\(failing.port)/PLANTED-path", "NO_URL": "PLANTED-no-url",
        ]) { $1 }
        let names = ["FAILING", "MOVING", "REFUSING", "CLOSED", "NO_TLS", "NO_URL"]
        let streams =
            servers.map { stream("s\($0.port)", $0.url("/ws?q=public")) } + [
                stream("closed", "ws://127.0.0.1:1/"), stream("tls", "wss://127.0.0.1:\(sending.port)/"),
            ]
        let sinks = names.map { sink($0.lowercased(), variable: $0) }
        let to = names.map { "\"\($0.lowercased())\"" }.joined(separator: ", ")
        let rules = """
            {"streams": {\(streams.joined(separator: ",\n"))}, "sinks": {\(Rules.stdout), \(sinks.joined(separator: ",\n"))},
             "rules": [{"name": "all", "to": ["out", \(to)]}]}
            """
        let result = try await test.relay(rules) { process in
            for told in [
                "answered 401", "redirect", "closed: 1008", "the server sent an error", "is not JSON", "status 500",
                "status 302", "status 401", "sink=closed", "sink=no_tls", "sink=no_url", "stream closed could not",
                "stream tls could not", "HTTP",
            ] {
                let text = await process.errors(containing: told)
                #expect(text.contains(told))
            }
        }
        #expect(result.status == 0)
        #expect(result.output.split(separator: "\n").count == 1)
        for line in result.all.split(separator: "\n") where line.contains("PLANTED") {
            Issue.record("a secret is in: \(line)")
        }
    }

    @Test func checkHasNone() async throws {
        let folder = try TemporaryFolder()
        let rules = """
            {"streams": {\(stream("s", "wss://example.com/"))}, "sinks": {\(sink("hook", variable: "URL")),
              "written": {"type": "webhook", "url": "ftp://PLANTED.test/PLANTED-path", "headers": {"A": "PLANTED\\n"}}},
             "rules": [{"name": "all", "to": ["hook"]}]}
            """
        let path = folder.write("rules.json", rules)
        for words in [["check", path], ["check", "--json", path], ["run", "--rules", path]] {
            let result = try await RelayProcess.run(words, environment: Self.environment, folder: folder)
            #expect(result.status == 78)
            #expect(!result.all.contains("PLANTED"))
        }
    }
}
