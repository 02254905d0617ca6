/// The address of a WebSocket server: RFC 6455, section 3.
///
/// It prints as its origin only, because path and query may carry a token.
package struct WebSocketURL: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// Longer addresses are refused: common servers take no longer request line.
    static let longest = 8000

    /// Whether the scheme is `wss`.
    package let secure: Bool
    /// The host in lower case, an IPv6 address without its brackets.
    package let host: String
    /// The port, 443 or 80 if the address names none.
    package let port: UInt16
    /// What stands in the request line: path and query byte for byte, `/` for an empty path.
    package let target: String
    /// Whether the host is this machine: `localhost`, 127.0.0.0/8 or ::1.
    package let isLoopback: Bool

    /// The value of the `Host` field: no default port, brackets around an IPv6 address.
    package var hostHeader: String { port == defaultPort ? bracketedHost : "\(bracketedHost):\(port)" }
    /// Scheme, host and port, safe to log.
    package var originDescription: String { "\(secure ? "wss" : "ws")://\(bracketedHost):\(port)" }

    package var description: String { originDescription }
    package var debugDescription: String { originDescription }
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    private var defaultPort: UInt16 { secure ? 443 : 80 }
    private var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }

    /// Reads an address such as `wss://host:port/path?query`.
    ///
    /// - Throws: `URLFault` with the first thing that is wrong, in words that quote none of the address.
    package init(_ text: String) throws(URLFault) {
        guard !text.isEmpty else { throw URLFault("the address is empty") }
        guard text.utf8.count <= Self.longest else {
            throw URLFault("the address is longer than \(Self.longest) bytes")
        }
        try Self.checkBytes(text)
        let (secure, rest) = try Self.scheme(of: text)
        let authority = rest.prefix { !"/?#".contains($0) }
        let tail = rest[authority.endIndex...]
        guard !tail.contains("#") else {
            throw URLFault("the address has a fragment (\"#...\"), which is never sent; leave it out, or write \"%23\"")
        }
        guard !authority.contains("@") else {
            throw URLFault(
                "the address has a user or a password before \"@\"; credentials belong in \"token\" or \"headers\"")
        }
        let (host, portText) = try Self.split(authority)
        self.secure = secure
        self.host = host.lowercasedASCII
        port = try portText.map { text throws(URLFault) in try Self.port(text) } ?? (secure ? 443 : 80)
        target = tail.hasPrefix("/") ? String(tail) : "/" + tail
        isLoopback = Self.isLoopback(self.host)
    }

    private static func checkBytes(_ text: String) throws(URLFault) {
        for byte in text.utf8 {
            if byte.isControl || byte == 0x20 {
                throw URLFault("the address has white space or a control character in it")
            }
            if byte >= 0x80 {
                throw URLFault(
                    "the address has a character outside ASCII; write the host as \"xn--...\", the rest as \"%..\"")
            }
        }
    }

    private static func scheme(of text: String) throws(URLFault) -> (secure: Bool, rest: Substring) {
        guard let separator = text.firstRange(of: "://") else {
            throw URLFault("the address must begin with \"wss://\" or \"ws://\"")
        }
        let rest = text[separator.upperBound...]
        switch text[..<separator.lowerBound].lowercased() {
        case "wss": return (true, rest)
        case "ws": return (false, rest)
        case "https": throw URLFault("the scheme is https; write \"wss://\" for a WebSocket")
        case "http": throw URLFault("the scheme is http; write \"ws://\" for a WebSocket")
        default: throw URLFault("the address must begin with \"wss://\" or \"ws://\"")
        }
    }

    private static func split(_ authority: Substring) throws(URLFault) -> (host: String, port: Substring?) {
        guard authority.hasPrefix("[") else {
            guard authority.count(where: { $0 == ":" }) <= 1 else {
                throw URLFault("an IPv6 address needs brackets around it: \"[::1]\"")
            }
            let host = authority.prefix { $0 != ":" }
            if let problem = HostName.problem(with: host) { throw URLFault(problem) }
            let rest = authority[host.endIndex...]
            return (String(host), rest.isEmpty ? nil : rest.dropFirst())
        }
        guard let end = authority.firstIndex(of: "]") else { throw URLFault("the IPv6 address has no closing bracket") }
        let host = authority[authority.index(after: authority.startIndex)..<end]
        guard HostName.ipv6(host) != nil else { throw URLFault("there is no IPv6 address in the brackets") }
        let rest = authority[authority.index(after: end)...]
        guard rest.isEmpty || rest.hasPrefix(":") else { throw URLFault("only a port can follow the closing bracket") }
        return (String(host), rest.isEmpty ? nil : rest.dropFirst())
    }

    private static func port(_ text: Substring) throws(URLFault) -> UInt16 {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit), let port = UInt16(text),
            port > 0
        else { throw URLFault("the port must be a number from 1 to 65535") }
        return port
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "localhost." { return true }
        if let bytes = HostName.ipv4(host[...]) { return bytes[0] == 127 }
        return HostName.ipv6(host[...]) == [0, 0, 0, 0, 0, 0, 0, 1]
    }
}

/// What is wrong with an address, in words that quote none of it.
package struct URLFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// One sentence without a full stop.
    package let message: String

    init(_ message: String) {
        self.message = message
    }

    package var description: String { message }
}
