import GLibRuntime
import Glibc
import HTTPClient
import RelayTestKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct HTTPClientTests {
    typealias Server = ScriptedHTTPServer

    private func post(_ url: String, timeout: Duration = .seconds(20), body: String = "{}") -> HTTPRequest {
        HTTPRequest(
            .post, url: url, headers: [("Content-Type", "application/json")], body: Array(body.utf8), timeout: timeout,
            proxy: .none)
    }

    private func failure(_ result: Result<HTTPResponse, HTTPFailure>) throws -> HTTPFailure {
        guard case .failure(let failure) = result else {
            struct Answered: Error {}
            throw Answered()
        }
        return failure
    }

    @Test(arguments: HTTPRequest.Method.allCases)
    func requestArrivesAsMade(method: HTTPRequest.Method) async throws {
        let server = try Server { _ in .send(Server.answer()) }
        defer { server.stop() }
        let hasBody = [.post, .put, .patch].contains(method)
        let request = HTTPRequest(
            method, url: server.url("/a?b=c#d"), headers: [("X-One", "1"), ("X-Empty", "")],
            body: hasBody ? Array("hello".utf8) : [], proxy: .none)
        let response = try await HTTPClient().send(request).get()
        #expect(response.status == 200)
        let arrived = try #require(server.requests.first)
        #expect(arrived.method == method.rawValue)
        #expect(arrived.target == "/a?b=c")
        #expect(arrived.body == (hasBody ? Array("hello".utf8) : []))
        let fields = arrived.headers.filter { $0.name != "host" && $0.name != "content-length" }
        #expect(fields.map(\.name) == ["x-one", "x-empty"])
        #expect(fields.map(\.value) == ["1", ""])
    }

    @Test func postWithoutBodySaysSo() async throws {
        let server = try Server { _ in .send(Server.answer()) }
        defer { server.stop() }
        _ = try await HTTPClient().send(HTTPRequest(.post, url: server.url(), proxy: .none)).get()
        #expect(server.requests.first?.header("content-length") == "0")
    }

    @Test func answerIsReadWhole() async throws {
        let server = try Server { _ in
            .send("HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\n" + Server.answer("418 Tea", ["X-Late:  2 ", "x-late: 3"], "pot"))
        }
        defer { server.stop() }
        let response = try await HTTPClient().send(post(server.url())).get()
        #expect(response.status == 418)
        #expect(response.body == Array("pot".utf8))
        #expect(response.header("x-late") == "2")
        #expect(response.header("x-early") == nil)
        #expect(response.headers.map(\.name) == ["content-length", "x-late", "x-late"])
    }

    @Test func chunksAreJoined() async throws {
        let server = try Server { _ in
            .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Trailer: t\r\n\r\n")
        }
        defer { server.stop() }
        let client = await HTTPClient()
        for _ in 0..<2 {
            let response = try await client.send(post(server.url())).get()
            #expect(response.body == Array("abcde".utf8))
            #expect(response.header("x-trailer") == nil)
        }
        #expect(server.connectionCount == 1)
    }

    @Test func keptConnectionServesManyRequests() async throws {
        let server = try Server { _ in .send(Server.answer()) }
        defer { server.stop() }
        let client = await HTTPClient()
        for index in 0..<100 { #expect(try await client.send(post(server.url("/\(index)"))).get().status == 200) }
        #expect(server.requests.map(\.target) == (0..<100).map { "/\($0)" })
        #expect(server.connectionCount == 1)
    }

    @Test func connectionClosedBetweenRequestsIsReplaced() async throws {
        let server = try Server { _ in .sendAndClose(Server.answer()) }
        defer { server.stop() }
        let client = await HTTPClient()
        var events = server.events.makeAsyncIterator()
        for _ in 0..<10 {
            #expect(try await client.send(post(server.url())).get().status == 200)
            while let event = await events.next() { if case .closed = event { break } }
        }
        #expect(server.connectionCount == 10)
        #expect(server.requests.count == 10)
    }

    /// The race that every kept connection has: the server closes it while the request is on its way.
    @Test(arguments: [true, false])
    func requestOnDyingConnectionIsSentOnceMore(isReset: Bool) async throws {
        let server = try Server { request in
            request.index == 1 ? (isReset ? .reset : .close) : .send(Server.answer())
        }
        defer { server.stop() }
        let client = await HTTPClient()
        for text in ["a", "b"] { #expect(try await client.send(post(server.url(), body: text)).get().status == 200) }
        #expect(server.requests.map(\.body) == [Array("a".utf8), Array("b".utf8), Array("b".utf8)])
        #expect(server.requests.map(\.connection) == [0, 0, 1])
    }

    @Test func newConnectionClosedWithoutAnswerFailsAtOnce() async throws {
        let server = try Server { _ in .close }
        defer { server.stop() }
        let failure = try failure(await HTTPClient().send(post(server.url("/PATH"))))
        #expect(failure == (.broken, "127.0.0.1:\(server.port) closed the connection without an answer"))
        #expect(server.requests.count == 1)
    }

    @Test func resetFails() async throws {
        let server = try Server { _ in .reset }
        defer { server.stop() }
        let failure = try failure(await HTTPClient().send(post(server.url("/PATH"))))
        #expect(failure == (.broken, "the connection to 127.0.0.1:\(server.port) broke: Connection reset by peer"))
    }

    @Test func answerCutShortFails() async throws {
        let server = try Server { _ in .sendAndClose("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc") }
        defer { server.stop() }
        let failure = try failure(await HTTPClient().send(post(server.url())))
        #expect(failure == (.broken, "127.0.0.1:\(server.port) closed the connection in the middle of its answer"))
    }

    @Test func silenceTimesOut() async throws {
        let server = try Server { _ in .hang }
        defer { server.stop() }
        let start = ContinuousClock.now
        let failure = try failure(await HTTPClient().send(post(server.url("/PATH"), timeout: .milliseconds(150))))
        #expect(failure == (.timeout, "127.0.0.1:\(server.port) did not answer within 150ms"))
        #expect(start.duration(to: .now) >= .milliseconds(150))
    }

    /// The second time-out lies behind the first, and the timer must still ring for it.
    @Test func laterTimeoutIsKeptToo() async throws {
        let server = try Server { request in request.target == "/ok" ? .send(Server.answer()) : .hang }
        defer { server.stop() }
        let client = await HTTPClient()
        for _ in 0..<3 {
            _ = try await client.send(post(server.url("/ok"), timeout: .milliseconds(100))).get()
            #expect(try failure(await client.send(post(server.url(), timeout: .milliseconds(130)))).kind == .timeout)
        }
    }

    @Test func refusedConnectionFails() async throws {
        let server = try Server { _ in .close }
        var events = server.events.makeAsyncIterator()
        // A request first, so that the listener is known to run; then it goes away.
        let client = await HTTPClient()
        _ = await client.send(post(server.url()))
        while let event = await events.next() { if case .closed = event { break } }
        server.stop()
        var last = try failure(await client.send(post(server.url("/PATH"))))
        while last.kind != .connect { last = try failure(await client.send(post(server.url("/PATH")))) }
        #expect(last.sentence == "could not connect to 127.0.0.1:\(server.port): Connection refused")
    }

    @Test func unknownNameFails() async throws {
        // No resolver asks the network for a label of 64 letters.
        let host = String(repeating: "a", count: 64) + ".invalid"
        let failure = try failure(await HTTPClient().send(post("http://\(host)/PATH")))
        #expect(failure == (.resolve, "the name of \(host) could not be resolved"))
    }

    @Test func whatIsNotHTTPFails() async throws {
        let server = try Server { _ in .sendAndClose("SSH-2.0-OpenSSH_9.2\r\n") }
        defer { server.stop() }
        let failure = try failure(await HTTPClient().send(post(server.url())))
        #expect(failure == (.malformed, "the answer of 127.0.0.1:\(server.port) is not HTTP"))
    }

    @Test func longBodyIsCutAndTheRestCancelled() async throws {
        let server = try Server { _ in
            .sendForEver(head: "HTTP/1.1 500 No\r\nContent-Length: 99999999999\r\n\r\n", piece: String(repeating: "x", count: 5000))
        }
        defer { server.stop() }
        let response = try await HTTPClient().send(post(server.url())).get()
        #expect(response.status == 500)
        #expect(response.body.count == 64 * 1024)
        #expect(response.isTruncated)
        for await event in server.events { if case .closed = event { break } }
    }

    @Test func bodyOfExactlyTheLimitIsWhole() async throws {
        let server = try Server { _ in .send(Server.answer("200 OK", [], String(repeating: "x", count: 64 * 1024))) }
        defer { server.stop() }
        let response = try await HTTPClient().send(post(server.url())).get()
        #expect(response.body.count == 64 * 1024)
        #expect(!response.isTruncated)
    }

    @Test func endlessHeaderFails() async throws {
        let server = try Server { _ in .sendForEver(head: "HTTP/1.1 200 OK\r\n", piece: "X-More: and more\r\n") }
        defer { server.stop() }
        let failure = try failure(await HTTPClient().send(post(server.url())))
        #expect(failure == (.tooLarge, "the header of the answer of 127.0.0.1:\(server.port) is too large"))
        for await event in server.events { if case .closed = event { break } }
    }

    @Test(arguments: ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
    func redirectIsNotFollowed(status: String) async throws {
        let other = try Server { _ in .send(Server.answer()) }
        let server = try Server { _ in .send(Server.answer(status, ["Location: \(other.url("/x"))"])) }
        defer {
            server.stop()
            other.stop()
        }
        let request = HTTPRequest(.post, url: server.url(), headers: [("Authorization", "Bearer T")], proxy: .none)
        let response = try await HTTPClient().send(request).get()
        #expect(response.status / 100 == 3)
        #expect(response.header("location") == other.url("/x"))
        #expect(other.connectionCount == 0)
        #expect(other.byteCount == 0)
    }

    @Test func cancellationEndsTheTransferAtOnce() async throws {
        let server = try Server { _ in .hang }
        defer { server.stop() }
        let client = await HTTPClient()
        let request = post(server.url())
        let task = Task { await client.send(request) }
        var events = server.events.makeAsyncIterator()
        _ = await events.next()
        task.cancel()
        #expect(try failure(await task.value) == (.cancelled, "the request was cancelled"))
        #expect(await client.inFlight == 0)
        // The server sees it, too, long before the time-out.
        guard case .closed? = await events.next() else {
            Issue.record("the connection is open")
            return
        }
    }

    @Test func cancelledTaskSendsNothing() async throws {
        let server = try Server { _ in .send(Server.answer()) }
        defer { server.stop() }
        let client = await HTTPClient()
        let request = post(server.url())
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await client.send(request)
        }
        #expect(try failure(await task.value).kind == .cancelled)
        #expect(server.connectionCount == 0)
    }

    @Test func closedClientCancelsAll() async throws {
        let server = try Server { _ in .hang }
        defer { server.stop() }
        let client = await HTTPClient()
        let request = post(server.url())
        let task = Task { await client.send(request) }
        for await event in server.events { if case .request = event { break } }
        await client.close()
        #expect(try failure(await task.value).kind == .cancelled)
        #expect(try failure(await client.send(request)).kind == .cancelled)
        for await event in server.events { if case .closed = event { break } }
    }

    @Test func connectionsToOneHostAreBounded() async throws {
        let server = try Server { _ in .send(Server.answer()) }
        defer { server.stop() }
        let client = await HTTPClient(connectionsPerHost: 4)
        let request = post(server.url())
        let statuses = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { (try? await client.send(request).get().status) ?? 0 } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 100))
        #expect((1...4).contains(server.connectionCount))
    }

    @Test(arguments: [("X-A", "b\r\nX-Injected: c"), ("X-A\r\nX-Injected", "b"), ("X A", "b"), ("", "b"), ("X-A", "\u{0}")])
    func headerThatWouldInjectIsNotSent(name: String, value: String) async throws {
        let server = try Server { _ in .send(Server.answer()) }
        defer { server.stop() }
        let request = HTTPRequest(.post, url: server.url(), headers: [(name, value)], proxy: .none)
        let failure = try failure(await HTTPClient().send(request))
        #expect(failure.kind == .invalid)
        #expect(!failure.sentence.contains("Injected"))
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: ["", "ftp://127.0.0.1/x", "http://127.0.0.1:99999/", "nonsense", "file:///etc/passwd", "http://[::1"])
    func badURLFails(url: String) async throws {
        #expect(try failure(await HTTPClient().send(post(url))).kind == .invalid)
    }

    @Test func proxyGetsTheWholeURLAndNoOtherHostIsAsked() async throws {
        let proxy = try Server { _ in .send(Server.answer("200 OK", [], "by proxy")) }
        defer { proxy.stop() }
        var request = post("http://chat.invalid/hook")
        request.proxy = .url("http://u:pw@127.0.0.1:\(proxy.port)")
        let response = try await HTTPClient().send(request).get()
        #expect(response.body == Array("by proxy".utf8))
        #expect(proxy.requests.first?.target == "http://chat.invalid/hook")
        #expect(proxy.requests.first?.header("proxy-authorization") != nil)
    }

    @Test func proxyThatRefusesIsNamedAsTheCause() async throws {
        let proxy = try Server { _ in .sendAndClose(Server.answer("403 Forbidden")) }
        defer { proxy.stop() }
        var request = HTTPRequest(.post, url: "https://chat.invalid/PATH", headers: [("Authorization", "T")])
        request.proxy = .url("http://127.0.0.1:\(proxy.port)")
        let failure = try failure(await HTTPClient().send(request))
        #expect(failure == (.proxy, "the proxy for chat.invalid refused the connection with status 403"))
        #expect(proxy.requests.first?.method == "CONNECT")
        #expect(proxy.requests.first?.header("authorization") == nil)
    }

    @Test func thousandsOfFailuresLeaveDescriptorsAlone() async throws {
        let server = try Server { request in request.index % 2 == 0 ? .reset : .close }
        defer { server.stop() }
        let client = await HTTPClient()
        func descriptors() -> Int {
            var count = 0
            guard let folder = opendir("/proc/self/fd") else { return 0 }
            while readdir(folder) != nil { count += 1 }
            closedir(folder)
            return count
        }
        for _ in 0..<20 { _ = await client.send(post(server.url())) }
        let before = descriptors()
        for _ in 0..<2000 { #expect(try failure(await client.send(post(server.url()))).kind == .broken) }
        // Other tests run beside this one and open some.
        #expect(descriptors() < before + 200)
        #expect(await client.inFlight == 0)
    }
}

private func == (failure: HTTPFailure, expected: (HTTPFailure.Kind, String)) -> Bool {
    failure.kind == expected.0 && failure.sentence == expected.1
}
