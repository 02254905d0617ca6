import RelayTestKit
import Testing
import WebSocketCodec

struct HTTPHeadParserTests {
    private static let head = "HTTP/1.1 200 OK\r\nA: 1\r\nb:\t two \r\na:\r\n\r\n"

    private func parse(
        _ text: String, _ kind: HTTPHeadParser.Kind = .response, inPiecesOf size: Int = .max
    ) throws -> (head: HTTPHead?, rest: String) {
        var parser = HTTPHeadParser(kind)
        var head: HTTPHead?
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            if let complete = try parser.feed(bytes.prefix(size)) { head = complete }
            bytes = bytes.dropFirst(size)
        }
        return (head, String(decoding: parser.rest, as: UTF8.self))
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func headIsCutFromWhatFollows(size: Int) throws {
        let (head, rest) = try parse(Self.head + "\u{1}\r\n\r\nframes", inPiecesOf: size)
        #expect(head?.startLine == "HTTP/1.1 200 OK")
        #expect(head?.values(of: "A") == ["1", ""])
        #expect(head?.values(of: "B") == ["two"])
        #expect(rest == "\u{1}\r\n\r\nframes")
    }

    @Test func incompleteHeadIsAwaited() throws {
        for count in 0..<Self.head.utf8.count {
            #expect(try parse(String(decoding: Self.head.utf8.prefix(count), as: UTF8.self)).head == nil)
        }
    }

    @Test(arguments: [
        ("SSH-2.0-OpenSSH_9.2\r\n", "not HTTP"), ("HTTQ", "not HTTP"), ("HTTP/1.1 200 OK\nA: 1\n\n", "CR LF"),
        ("\n", "not HTTP"), ("HTTP/1.1 200 OK\r\n folded\r\n\r\n", "no field"),
        ("HTTP/1.1 200 OK\r\nA : 1\r\n\r\n", "no field"),
        ("HTTP/1.1 200 OK\r\nnothing\r\n\r\n", "no field"), ("HTTP/1.1 200 OK\r\n: x\r\n\r\n", "no field"),
        ("HTTP/1.1 200 OK\r\nA: \u{0}\r\n\r\n", "control"), ("HTTP/1.1 200 O\u{1B}K\r\n\r\n", "control"),
        ("HTTP/1.1 200 OK\r\nA: x\ry\r\n\r\n", "control"),
    ])
    func whatIsNoHeadIsRefused(text: String, reason: String) {
        let fault = #expect(throws: HandshakeFault.self) { try parse(text) }
        guard case .malformed(let why)? = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
        #expect(why.contains(reason), "\(why)")
    }

    @Test func headIsBounded() {
        let long = "HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 17_000)
        #expect(throws: HandshakeFault.self) { try parse(long) }
        #expect(throws: HandshakeFault.self) { try parse(long + "\r\n\r\n") }
        #expect(throws: HandshakeFault.self) { try parse(long, inPiecesOf: 100) }
        let many = "HTTP/1.1 200 OK\r\n" + String(repeating: "A: x\r\n", count: 101) + "\r\n"
        #expect(throws: HandshakeFault.self) { try parse(many) }
        #expect(throws: Never.self) {
            try parse("HTTP/1.1 200 OK\r\n" + String(repeating: "A: x\r\n", count: 100) + "\r\n")
        }
    }

    @Test func randomHeadsNeverTrap() {
        let pieces = ["HTTP/1.1 ", "101", " ", "\r\n", "\n", "\r", ":", "A", "Upgrade: websocket", "\u{0}", "é", ","]
        for seed in 0..<UInt64(5000) {
            var generator = SeededGenerator(seed: seed)
            let count = Int.random(in: 0...20, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            _ = try? parse("HTTP/1.1 " + text, inPiecesOf: Int.random(in: 1...9, using: &generator))
            _ = try? parse(text, .request)
        }
    }
}
