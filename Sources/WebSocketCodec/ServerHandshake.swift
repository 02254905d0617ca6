/// The opening handshake as a server answers it: RFC 6455, section 4.2, agreeing to no extension.
package struct ServerHandshake: Sendable {
    /// The method, `GET` for a handshake.
    package let method: String
    /// The request target as sent.
    package let target: String
    /// The head of the request.
    package let head: HTTPHead

    private let version: String

    /// Reads the request line of any HTTP request; whether it asks for an upgrade is looked at by `acceptance`.
    ///
    /// - Throws: `HandshakeFault.malformed` when there is no request line.
    package init(_ head: HTTPHead) throws(HandshakeFault) {
        let words = head.startLine.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 3, words.allSatisfy({ !$0.isEmpty }), words[0].utf8.allSatisfy(\.isTokenCharacter),
            words[2].hasPrefix("HTTP/1."), words[2].utf8.count == 8
        else { throw .malformed("no request line") }
        self.head = head
        method = words[0]
        target = words[1]
        version = words[2]
    }

    /// Returns the answer 101, behind which frames follow.
    ///
    /// `subprotocol` is what was chosen of `head.list(of: "Sec-WebSocket-Protocol")`; `headers` are further fields.
    /// It throws `HandshakeFault.notWebSocket` when the request does not ask for a WebSocket as it should.
    package func acceptance(
        subprotocol: String? = nil, headers: [(String, String)] = []
    ) throws(HandshakeFault) -> [UInt8] {
        guard method == "GET", version == "HTTP/1.1" else { throw .notWebSocket("not GET in HTTP/1.1") }
        guard head.values(of: "Host").count == 1 else { throw .notWebSocket("not exactly one Host") }
        guard head.hasToken("websocket", in: "Upgrade") else { throw .notWebSocket("no \"Upgrade: websocket\"") }
        guard head.hasToken("upgrade", in: "Connection") else { throw .notWebSocket("no \"Connection: Upgrade\"") }
        guard head.values(of: "Sec-WebSocket-Version") == ["13"] else { throw .notWebSocket("the version is not 13") }
        let keys = head.values(of: "Sec-WebSocket-Key")
        guard keys.count == 1, AcceptKey.isKey(keys[0]) else { throw .notWebSocket("no key of 16 bytes") }

        var answer: [UInt8] = []
        answer.appendLine("HTTP/1.1 101 Switching Protocols")
        answer.appendHeader("Upgrade", "websocket")
        answer.appendHeader("Connection", "Upgrade")
        answer.appendHeader("Sec-WebSocket-Accept", AcceptKey.answer(to: keys[0]))
        if let subprotocol { answer.appendHeader("Sec-WebSocket-Protocol", subprotocol) }
        for (name, value) in headers { answer.appendHeader(name, value) }
        answer.appendLine("")
        return answer
    }

    /// Returns an answer with a body, after which the connection is closed.
    package static func refusal(
        status: Int, reason: String, headers: [(String, String)] = [], body: [UInt8] = []
    ) -> [UInt8] {
        var answer: [UInt8] = []
        answer.appendLine("HTTP/1.1 \(status) \(SafeText.make(reason.utf8))")
        for (name, value) in headers { answer.appendHeader(name, value) }
        answer.appendHeader("Content-Length", "\(body.count)")
        answer.appendHeader("Connection", "close")
        answer.appendLine("")
        return answer + body
    }
}
