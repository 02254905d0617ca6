import HTTPClient
import RelayCore
import RelaySinks
import RelayTestKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct WebhookSinkTests {
    typealias Server = ScriptedHTTPServer

    private static let token = "Bearer tok_PLANTED1"
    private static let resource = "/services/T000/PLANTED2?key=PLANTED3"

    /// A sink whose address and headers are full of secrets.
    private func sink(
        _ url: String, timeout: String = "20s", keys: String = "",
        headers: [(String, Secret)] = [("Authorization", Secret(token))]
    ) async throws -> WebhookSink {
        let read = readWebhook(#"{"url": {"env": "URL"}, "timeout": "\#(timeout)"\#(keys)}"#)
        var configuration = try #require(read.configuration)
        #expect(read.messages.isEmpty)
        configuration.proxy = .none
        return WebhookSink(
            name: "sink", configuration: configuration, url: Secret(url), headers: headers, http: await HTTPClient(),
            clock: PassedClock(), userAgent: "chirp-relay/1.2.3")
    }

    private func answered(_ status: String, _ fields: [String] = [], _ body: String = "") async throws -> Outcome {
        let server = try Server { _ in .send(Server.answer(status, fields, body)) }
        defer { server.stop() }
        let outcome = try await sink(server.url(Self.resource)).deliver(.sample())
        #expect(server.requests.count == 1)
        return withoutPort(outcome, server.port)
    }

    private func withoutPort(_ outcome: Outcome, _ port: UInt16) -> Outcome {
        func short(_ text: String) -> String { text.split(separator: ":\(port)").joined() }
        return switch outcome {
        case .delivered: .delivered
        case .retry(let after, let because, let trouble):
            .retry(after: after, because: short(because), trouble: trouble)
        case .rejected(let because): .rejected(because: short(because))
        case .stopped(let because): .stopped(because: short(because))
        }
    }

    static let outcomes: [(String, [String], Outcome)] = [
        ("200 OK", [], .delivered),
        ("204 No Content", [], .delivered),
        ("299 Fine", ["Retry-After: 9"], .delivered),
        ("300 Choices", [], .rejected(because: "127.0.0.1 answered with status 300")),
        (
            "302 Found", ["Location: https://other.test/PLANTED"],
            .rejected(
                because: "127.0.0.1 answered with status 302, a redirect to other.test, which is not followed; "
                    + "put the right URL into the rules file")
        ),
        (
            "308 Moved", ["Location: /PLANTED"],
            .rejected(
                because: "127.0.0.1 answered with status 308, a redirect to another place, which is not followed; "
                    + "put the right URL into the rules file")
        ),
        ("400 Bad", [], .rejected(because: "127.0.0.1 answered with status 400")),
        ("401 No", [], .stopped(because: "127.0.0.1 answered with status 401")),
        ("403 No", ["Retry-After: 9"], .rejected(because: "127.0.0.1 answered with status 403")),
        ("404 No", [], .rejected(because: "127.0.0.1 answered with status 404")),
        ("408 Late", [], .retry(after: nil, because: "127.0.0.1 answered with status 408", trouble: .failed)),
        ("410 Gone", [], .stopped(because: "127.0.0.1 answered with status 410")),
        ("413 Large", [], .rejected(because: "127.0.0.1 answered with status 413")),
        (
            "425 Early", ["Retry-After: 0.75"],
            .retry(after: .milliseconds(750), because: "127.0.0.1 answered with status 425")
        ),
        ("429 Slow", [], .retry(after: nil, because: "127.0.0.1 answered with status 429", trouble: .overrun)),
        (
            "429 Slow", ["Retry-After: 30"],
            .retry(after: .seconds(30), because: "127.0.0.1 answered with status 429", trouble: .overrun)
        ),
        (
            "429 Slow", ["Retry-After: -30"],
            .retry(after: nil, because: "127.0.0.1 answered with status 429", trouble: .overrun)
        ),
        (
            "429 Slow", ["Retry-After: 999999"],
            .retry(after: .seconds(3600), because: "127.0.0.1 answered with status 429", trouble: .overrun)
        ),
        ("500 Oops", [], .retry(after: nil, because: "127.0.0.1 answered with status 500", trouble: .failed)),
        (
            "503 Busy", ["Date: Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After: Sun, 06 Nov 1994 08:51:37 GMT"],
            .retry(after: .seconds(120), because: "127.0.0.1 answered with status 503", trouble: .failed)
        ),
        (
            // The clock of the test says 1970-01-01T00:00:00Z.
            "503 Busy", ["Retry-After: Thu, 01 Jan 1970 00:00:10 GMT"],
            .retry(after: .seconds(10), because: "127.0.0.1 answered with status 503", trouble: .failed)
        ),
        ("599 Odd", [], .retry(after: nil, because: "127.0.0.1 answered with status 599", trouble: .failed)),
        ("999 Odd", [], .rejected(because: "127.0.0.1 answered with status 999")),
    ]

    @Test(arguments: outcomes)
    func statusDecides(status: String, fields: [String], outcome: Outcome) async throws {
        #expect(try await answered(status, fields) == outcome)
    }

    @Test func everyAttemptIsTheSame() async throws {
        let server = try Server { request in
            request.index < 3 ? .send(Server.answer("500 Oops")) : .send(Server.answer())
        }
        defer { server.stop() }
        let sink = try await sink(server.url(Self.resource))
        var last = Outcome.rejected(because: "")
        for _ in 0..<4 { last = await sink.deliver(.sample(key: "KEY9")) }
        #expect(last == .delivered)
        let requests = server.requests
        #expect(requests.count == 4)
        #expect(Set(requests.map(\.body)).count == 1)
        for request in requests {
            #expect(request.method == "POST")
            #expect(request.target == Self.resource)
            #expect(request.header("webhook-id") == "KEY9")
            #expect(request.header("content-type") == "application/json")
            #expect(request.header("user-agent") == "chirp-relay/1.2.3")
            #expect(request.header("authorization") == Self.token)
        }
    }

    @Test func fileMayReplaceContentTypeAndMethod() async throws {
        let server = try Server { _ in .send(Server.answer()) }
        defer { server.stop() }
        let sink = try await sink(
            server.url(), keys: #", "method": "PUT", "body": ["{key}"]"#,
            headers: [("content-type", Secret("application/vnd.x+json"))])
        #expect(await sink.deliver(.sample(key: "K")) == .delivered)
        let request = try #require(server.requests.first)
        #expect(request.method == "PUT")
        #expect(request.headers.filter { $0.name == "content-type" }.map(\.value) == ["application/vnd.x+json"])
        #expect(request.body == Array(#"["K"]"#.utf8))
    }

    @Test func networkFailuresAreRetried() async throws {
        let server = try Server { request in request.target.contains("hang") ? .hang : .close }
        defer { server.stop() }
        let cases: [(String, String, String, Outcome.Trouble)] = [
            (
                server.url(Self.resource), "20s", "127.0.0.1:\(server.port) closed the connection without an answer",
                .away
            ),
            (server.url("/hang"), "2s", "127.0.0.1:\(server.port) did not answer within 2s", .failed),
            (
                "https://127.0.0.1:1\(Self.resource)", "20s", "could not connect to 127.0.0.1:1: Connection refused",
                .away
            ),
        ]
        for (url, timeout, reason, trouble) in cases {
            let sink = try await sink(url, timeout: timeout)
            #expect(await sink.deliver(.sample()) == .retry(after: nil, because: reason, trouble: trouble))
        }
    }

    @Test func cancelledAttemptIsRetried() async throws {
        let server = try Server { _ in .hang }
        defer { server.stop() }
        let sink = try await sink(server.url(Self.resource))
        let task = Task { await sink.deliver(.sample()) }
        for await event in server.events { if case .request = event { break } }
        task.cancel()
        #expect(await task.value == .retry(after: nil, because: "the request was cancelled"))
    }

    @Test(arguments: ["nonsense PLANTED", "http://hooks.example.test/PLANTED", "ftp://h.test/PLANTED", ""])
    func badSecretURLStopsTheSink(url: String) async throws {
        guard case .stopped(let reason) = try await sink(url).deliver(.sample()) else {
            Issue.record("not stopped")
            return
        }
        #expect(reason.hasPrefix("the URL "))
        #expect(!reason.contains("PLANTED"))
    }

    @Test func secretThatWouldInjectAHeaderStopsTheSink() async throws {
        let server = try Server { _ in .send(Server.answer()) }
        defer { server.stop() }
        let sink = try await sink(server.url(), headers: [("X-Key", Secret("PLANTED\r\nX-Other: 1"))])
        guard case .stopped(let reason) = await sink.deliver(.sample()) else {
            Issue.record("not stopped")
            return
        }
        #expect(!reason.contains("PLANTED"))
        #expect(server.connectionCount == 0)
    }

    /// A server that sends everything back, as debugging ones do, shows no secret by it.
    @Test(arguments: [
        "\(token)", "You sent: \(resource)", "http://127.0.0.1\(resource)", "PLANTED2", "key=PLANTED3\u{301}",
        "tok_PLANTED1!", String(repeating: "x", count: 195) + "PLANTED2",
        "{\"path\":\"\\/services\\/T000\\/PLANTED2\"}",
    ])
    func echoedSecretIsNotShown(body: String) async throws {
        guard case .rejected(let reason) = try await answered("400 Bad", [], body) else {
            Issue.record("not rejected")
            return
        }
        #expect(!reason.contains("PLANTED"))
        #expect(!reason.contains("T000/"))
    }

    @Test(arguments: HostileText.all + ["<html>\n\t<h1>Too   many</h1>", String(repeating: "y", count: 30_000)])
    func reasonIsOneShortCleanLine(text: String) async throws {
        guard case .retry(_, let reason, _) = try await answered("502 Bad", [], text) else {
            Issue.record("not retried")
            return
        }
        let prefix = "127.0.0.1 answered with status 502"
        #expect(reason.hasPrefix(prefix))
        #expect(reason.unicodeScalars.count <= prefix.count + 2 + 200 + 1)
        #expect(
            !reason.unicodeScalars.contains { scalar in
                scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
            })
        #expect(!reason.contains("  "))
    }

    @Test func hostOfARedirectCannotForgeALine() async throws {
        let outcome = try await answered("302 Found", ["Location: https://evil\u{202e}.test/x"])
        guard case .rejected(let reason) = outcome else {
            Issue.record("not rejected")
            return
        }
        #expect(!reason.unicodeScalars.contains("\u{202e}"))
    }

    @Test func orderMeansOneAtATime() async throws {
        #expect(try await sink("https://h.test", keys: #", "inFlight": 7"#).inFlight == 7)
        #expect(try await sink("https://h.test", keys: #", "inFlight": 7, "ordered": true"#).inFlight == 1)
    }
}
