import Testing
import WebSocketCodec

struct HandshakeTests {
    /// The key and its answer of RFC 6455, section 1.3.
    private static let key = Array("the sample nonce".utf8)
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private func handshake(
        headers: [(String, String)] = [], subprotocol: String? = nil, url: String = "wss://s.example.test/ws"
    ) throws -> ClientHandshake {
        ClientHandshake(target: try WebSocketURL(url), headers: headers, subprotocol: subprotocol, key: Self.key)
    }

    private func check(_ answer: String, by handshake: ClientHandshake) throws {
        var parser = HTTPHeadParser(.response)
        let bytes = Array(answer.replacing("{answer}", with: Self.accept).utf8)
        let head = try #require(try parser.feed(bytes))
        try handshake.check(head, body: parser.rest)
    }

    private func lines(_ lines: String...) -> String { lines.joined(separator: "\r\n") + "\r\n\r\n" }

    @Test func requestIsThatOfTheStandard() throws {
        let request = try handshake(headers: [("Authorization", "Bearer t0ken")], subprotocol: "chat").request
        #expect(
            String(decoding: request, as: UTF8.self)
                == lines(
                    "GET /ws HTTP/1.1", "Host: s.example.test", "Upgrade: websocket", "Connection: Upgrade",
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
                    "Sec-WebSocket-Protocol: chat", "Authorization: Bearer t0ken"))
    }

    @Test func noConfiguredFieldAddsALine() throws {
        let headers = [
            ("X-A", "1\r\nEvil: yes"), ("X\r\nEvil", "1"), ("", "1"), ("X B", "1"), ("Host", "evil"),
            ("upgrade", "h2c"),
            ("Sec-WebSocket-Extensions", "permessage-deflate"), ("Content-Length", "5"), ("X-C", "é\u{0}"),
        ]
        let request = try handshake(headers: headers, subprotocol: "a\r\nEvil: yes").request
        let text = String(decoding: request, as: UTF8.self)
        let names = text.split(separator: "\r\n").dropFirst().map { $0.prefix { $0 != ":" } }
        #expect(
            names == [
                "Host", "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol",
                "X-A", "X-C",
            ])
        #expect(text.contains("X-A: 1  Evil: yes\r\n"))
        #expect(text.contains("X-C: é \r\n"))
    }

    @Test(arguments: [
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {answer}\r\n\r\n",
        "HTTP/1.1 101 \r\nconnection: keep-alive, Upgrade\r\nupgrade: WebSocket\r\nsec-websocket-accept: {answer}\r\n\r\n",
        "HTTP/1.1 101\r\nConnection: keep-alive\r\nConnection: uPgRaDe\r\nUPGRADE:websocket\r\nSEC-WEBSOCKET-ACCEPT:{answer}\r\n\r\n",
        "HTTP/1.1 101 X\r\nAccess-Control-Allow-Origin: \r\nUpgrade: websocket\r\nConnection: ,Upgrade\r\nSec-WebSocket-Accept: {answer}\r\nSec-WebSocket-Extensions:\r\n\r\n",
    ])
    func legalAnswerIsAccepted(answer: String) throws {
        try check(answer, by: handshake())
    }

    @Test(arguments: [
        (
            "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x{answer}\r\n\r\n",
            "Accept"
        ),
        ("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "Accept"),
        (
            "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {answer}\r\nSec-WebSocket-Accept: x\r\n\r\n",
            "Accept"
        ),
        ("HTTP/1.1 101 X\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {answer}\r\n\r\n", "Upgrade: websocket"),
        (
            "HTTP/1.1 101 X\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {answer}\r\n\r\n",
            "Upgrade: websocket"
        ),
        (
            "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: xUpgrade\r\nSec-WebSocket-Accept: {answer}\r\n\r\n",
            "Connection"
        ),
        ("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {answer}\r\n\r\n", "Connection"),
        (
            "HTTP/1.0 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {answer}\r\n\r\n",
            "HTTP/1.0"
        ),
        (
            "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {answer}\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
            "extension that was not offered: permessage-deflate"
        ),
        (
            "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {answer}\r\nSec-WebSocket-Protocol: chat\r\n\r\n",
            "subprotocol that was not offered: chat"
        ),
    ])
    func illegal101IsNoWebSocket(answer: String, reason: String) throws {
        let handshake = try handshake(subprotocol: "superchat")
        let fault = #expect(throws: HandshakeFault.self) { try check(answer, by: handshake) }
        guard case .notWebSocket(let why)? = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
        #expect(why.contains(reason), "\(why)")
    }

    @Test func offeredSubprotocolMayBeChosenOrNot() throws {
        let answer = "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {answer}\r\n"
        try check(answer + "Sec-WebSocket-Protocol: b\r\n\r\n", by: handshake(subprotocol: "a, b"))
        try check(answer + "\r\n", by: handshake(subprotocol: "a"))
    }

    /// A captive portal, whose page even contains the number.
    @Test func otherStatusIsRefused() throws {
        let answer =
            "HTTP/1.1 200 OK\r\nUpgrade: websocket\r\n\r\n<html>101\u{1B}[31m \u{202E}\u{0}\r\n\r\n"
            + String(repeating: "é", count: 500)
        let fault = #expect(throws: HandshakeFault.self) { try check(answer, by: handshake()) }
        guard case .refused(let refusal)? = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
        #expect(refusal.status == 200)
        #expect(refusal.body.hasPrefix("<html>101\u{FFFD}[31m \u{FFFD}\u{FFFD} éé"))
        #expect((190...200).contains(refusal.body.utf8.count))
    }

    @Test func refusalTellsRedirectAndRetryAfter() throws {
        let answer =
            "HTTP/1.1 307 Moved\r\nLocation: https://user:pw@login.example.test:8443/SECRET?SECRET#SECRET\r\nRetry-After: 120\r\n\r\n"
        let fault = #expect(throws: HandshakeFault.self) { try check(answer, by: handshake()) }
        #expect(
            fault
                == .refused(
                    HandshakeFault.Refusal(
                        status: 307, reason: "Moved", location: "https://login.example.test:8443", retryAfter: "120",
                        body: "")))
        #expect(fault?.description.contains("https://login.example.test:8443, which is not followed") == true)
        let relative = #expect(throws: HandshakeFault.self) {
            try check("HTTP/1.1 302 F\r\nLocation: /SECRET\r\n\r\n", by: handshake())
        }
        #expect(relative?.description.contains("SECRET") == false)
    }

    @Test func refusalQuotesNoSecret() throws {
        let handshake = try handshake(
            headers: [("Authorization", "Bearer PLANTED-1")], url: "wss://h/x?a=1&token=PLANTED-2")
        let answer =
            "HTTP/1.1 401 PLANTED-1\r\nLocation: https://PLANTED-1/\r\n\r\nyou sent Bearer PLANTED-1 and PLANTED-2 and PLANTED-1"
        let fault = #expect(throws: HandshakeFault.self) { try check(answer, by: handshake) }
        let text = fault?.description ?? ""
        #expect(text.contains("401 <redacted>") && text.contains("you sent <redacted> and <redacted> and <redacted>"))
        #expect(!text.contains("PLANTED"))
    }

    /// Whichever field a server echoes them in.
    @Test(arguments: [
        "HTTP/1.1 503 X\r\nRetry-After: PLANTED-1\r\n\r\n",
        "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {answer}\r\nSec-WebSocket-Extensions: PLANTED-1\r\n\r\n",
        "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {answer}\r\nSec-WebSocket-Protocol: PLANTED-1\r\n\r\n",
        "GET /x?token=PLANTED-1 HTTP/1.1\r\n\r\n",
    ])
    func echoedSecretIsNotTold(answer: String) throws {
        let handshake = try handshake(
            headers: [("Authorization", "Bearer PLANTED-1")], url: "wss://h/x?token=PLANTED-1")
        let fault = #expect(throws: HandshakeFault.self) { try check(answer, by: handshake) }
        #expect(fault?.description.contains("PLANTED") == false)
    }

    @Test(arguments: [
        "HTTP/2 101 X", "HTTP/1.1 1010 X", "HTTP/1.1 abc", "HTTP/1.1", "HTTP/1.1 099 X", "HTTP/1.1 999 X",
        "HTTP/1.1  101",
    ])
    func answerWithoutStatusLineIsMalformed(line: String) throws {
        let fault = #expect(throws: HandshakeFault.self) { try check(line + "\r\n\r\n", by: handshake()) }
        if case .malformed? = fault { return }
        Issue.record("\(String(describing: fault))")
    }

    // MARK: The server's side

    private func serve(_ request: [UInt8]) throws -> ServerHandshake {
        var parser = HTTPHeadParser(.request)
        return try ServerHandshake(#require(try parser.feed(request)))
    }

    @Test func bothSidesAgree() throws {
        let client = try handshake(
            headers: [("Authorization", "Bearer t")], subprotocol: "a, b", url: "ws://h.test:9/p?q=1")
        let server = try serve(client.request)
        #expect(server.method == "GET")
        #expect(server.target == "/p?q=1")
        #expect(server.head.values(of: "authorization") == ["Bearer t"])
        #expect(server.head.list(of: "sec-websocket-protocol") == ["a", "b"])
        var parser = HTTPHeadParser(.response)
        let answer = try server.acceptance(subprotocol: "b", headers: [("X-Server", "test")])
        let head = try #require(try parser.feed(answer + [0x89, 0x00]))
        try client.check(head)
        #expect(head.values(of: "Sec-WebSocket-Accept") == [Self.accept])
        #expect(head.values(of: "x-server") == ["test"])
        #expect(parser.rest == [0x89, 0x00])
    }

    @Test(arguments: [
        ("GET / HTTP/1.1", "POST / HTTP/1.1"), ("GET / HTTP/1.1", "GET / HTTP/1.0"), ("Upgrade: websocket", "X: y"),
        ("Connection: Upgrade", "Connection: close"), ("Version: 13", "Version: 8"), ("Host: h", "X: h"),
        ("Host: h", "Host: h\r\nHost: i"),
        ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j"), ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j**=="),
    ])
    func wrongRequestIsNoUpgrade(part: String, replacement: String) throws {
        let request = lines(
            "GET / HTTP/1.1", "Host: h", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
        _ = try serve(Array(request.utf8)).acceptance()
        let wrong = try serve(Array(request.replacing(part, with: replacement).utf8))
        #expect(throws: HandshakeFault.self) { try wrong.acceptance() }
    }

    @Test(arguments: ["GET /", "GET  / HTTP/1.1", "GET / HTTP/2", "GET / x HTTP/1.1", "", "G(T / HTTP/1.1"])
    func requestWithoutRequestLineIsMalformed(line: String) {
        #expect(throws: HandshakeFault.self) { try serve(Array("\(line)\r\nHost: h\r\n\r\n".utf8)) }
    }

    @Test func refusalOfServerIsReadByClient() throws {
        let answer = ServerHandshake.refusal(
            status: 503, reason: "Busy", headers: [("Retry-After", "7")], body: Array("later".utf8))
        let fault = #expect(throws: HandshakeFault.self) {
            try check(String(decoding: answer, as: UTF8.self), by: handshake())
        }
        #expect(
            fault
                == .refused(
                    HandshakeFault.Refusal(status: 503, reason: "Busy", location: nil, retryAfter: "7", body: "later")))
        #expect(fault?.description == "the server answered 503 Busy, asking to retry after 7: later")
    }
}
