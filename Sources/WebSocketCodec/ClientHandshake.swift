internal import GLibRuntime

/// The opening handshake as a client makes it: RFC 6455, section 4.1, offering no extension.
package struct ClientHandshake: Sendable {
    /// The request head, ready to be sent.
    package let request: [UInt8]

    private let accept: String
    private let subprotocols: [String]
    private let secrets: Secrets

    /// Creates the handshake for one connection.
    ///
    /// Fields that the handshake itself writes are left out of `headers`, and no value can add a line.
    /// - Parameters:
    ///   - target: where to.
    ///   - headers: further fields, such as `Authorization`.
    ///   - subprotocol: what to offer: one name, or several with commas, best first.
    ///   - key: 16 random bytes.
    package init(target: WebSocketURL, headers: [(String, String)], subprotocol: String?, key: [UInt8]) {
        let key = Base64.encode(key)
        accept = AcceptKey.answer(to: key)
        subprotocols = (subprotocol ?? "").split(separator: ",").map { String($0).trimmedBlanks }.filter { !$0.isEmpty }
        let headers = headers.filter { !Self.isReserved($0.0) }
        secrets = Secrets(target: target.target, values: headers.map(\.1))

        var request: [UInt8] = []
        request.appendLine("GET \(target.target) HTTP/1.1")
        request.appendHeader("Host", target.hostHeader)
        request.appendHeader("Upgrade", "websocket")
        request.appendHeader("Connection", "Upgrade")
        request.appendHeader("Sec-WebSocket-Key", key)
        request.appendHeader("Sec-WebSocket-Version", "13")
        if !subprotocols.isEmpty {
            request.appendHeader("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", "))
        }
        for (name, value) in headers { request.appendHeader(name, value) }
        request.appendLine("")
        self.request = request
    }

    /// Checks the server's answer; if it does not throw, frames follow.
    ///
    /// - Parameters:
    ///   - response: the head of the answer.
    ///   - body: what has come behind it, for the message of a refusal.
    /// - Throws: `HandshakeFault` for anything but a 101 that is right in every point.
    package func check(_ response: HTTPHead, body: [UInt8] = []) throws(HandshakeFault) {
        guard let line = StatusLine(response.startLine) else {
            throw .malformed("the answer has no status line: \(secrets.hidden(in: Array(response.startLine.utf8)))")
        }
        guard line.status == 101 else { throw .refused(refusal(line, response, body)) }
        guard line.version == "HTTP/1.1" else { throw .notWebSocket("101 in \(line.version), but it takes HTTP/1.1") }
        let upgrade = response.values(of: "Upgrade")
        guard upgrade.count == 1, upgrade[0].equalsIgnoringASCIICase("websocket") else {
            throw .notWebSocket("101 without \"Upgrade: websocket\"")
        }
        guard response.hasToken("upgrade", in: "Connection") else {
            throw .notWebSocket("101 without \"Connection: Upgrade\"")
        }
        guard response.values(of: "Sec-WebSocket-Accept") == [accept] else {
            throw .notWebSocket("Sec-WebSocket-Accept does not answer our key")
        }
        if let used = response.list(of: "Sec-WebSocket-Extensions").first {
            throw .notWebSocket(
                "the server uses an extension that was not offered: \(secrets.hidden(in: Array(used.utf8), limit: 60))")
        }
        try checkSubprotocol(response)
    }

    private func checkSubprotocol(_ response: HTTPHead) throws(HandshakeFault) {
        let chosen = response.values(of: "Sec-WebSocket-Protocol")
        guard let first = chosen.first else { return }
        guard chosen.count == 1, subprotocols.contains(first) else {
            throw .notWebSocket(
                "the server uses a subprotocol that was not offered: \(secrets.hidden(in: Array(first.utf8), limit: 60))"
            )
        }
    }

    private func refusal(_ line: StatusLine, _ response: HTTPHead, _ body: [UInt8]) -> HandshakeFault.Refusal {
        HandshakeFault.Refusal(
            status: line.status, reason: secrets.hidden(in: Array(line.reason.utf8)),
            location: response.values(of: "Location").first.map { secrets.hidden(in: Array(Self.origin(of: $0).utf8)) },
            retryAfter: response.values(of: "Retry-After").first.map { secrets.hidden(in: Array($0.utf8), limit: 60) },
            body: secrets.hidden(in: body))
    }

    /// Returns scheme, host and port of a `Location`, whose path and query may be secrets.
    private static func origin(of location: String) -> String {
        var rest = Substring(location)
        var scheme = ""
        if let separator = location.firstRange(of: "://") {
            scheme = String(location[..<separator.upperBound])
            rest = location[separator.upperBound...]
        } else if location.hasPrefix("//") {
            rest = location.dropFirst(2)
        } else {
            return "another path of the same server"
        }
        let authority = rest.prefix { !"/?#\\".contains($0) }
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        return scheme + host
    }

    private static func isReserved(_ name: String) -> Bool {
        let name = name.lowercasedASCII
        return name.hasPrefix("sec-websocket-")
            || ["host", "upgrade", "connection", "content-length", "transfer-encoding"].contains(name)
    }
}
