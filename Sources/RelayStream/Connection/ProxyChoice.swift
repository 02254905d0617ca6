package import RelayCore

/// Which way a dial goes: straight, or through an HTTP proxy by CONNECT (RFC 9110, section 9.3.6).
package enum ProxyChoice: Sendable, Equatable {
    /// To the server itself.
    case direct
    /// Through this proxy.
    case proxy(Proxy)

    /// An HTTP proxy.
    package struct Proxy: Sendable, Equatable {
        /// The host, without brackets.
        package var host: String
        /// The port.
        package var port: UInt16
        /// `user:password`, percent-decoded, if the URL has it.
        package var credentials: Secret?

        /// Creates a proxy.
        package init(host: String, port: UInt16, credentials: Secret? = nil) {
            self.host = host
            self.port = port
            self.credentials = credentials
        }
    }

    /// Why a proxy cannot be used.
    ///
    /// Never quotes the URL, which may hold a password.
    package struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
        /// Where the URL stands.
        package var source: String
        /// What is wrong with it.
        package var reason: String

        package var description: String { "the proxy of \(source) cannot be used: \(reason)" }
    }

    /// Chooses by the configuration, else by the environment.
    ///
    /// A configured `direct` ignores the environment. For `wss` count `https_proxy`, `HTTPS_PROXY`, `all_proxy` and
    /// `ALL_PROXY`, for `ws` only `http_proxy` (in capitals a CGI request could set it); the first that is not empty
    /// wins. `no_proxy` or `NO_PROXY` lists hosts that are dialled straight: `*`, a name with all below it, or an
    /// address, each with an optional port.
    package static func choose(
        isSecure: Bool, host: String, port: UInt16, configured: String? = nil, environment: (String) -> String?
    ) throws(Fault) -> ProxyChoice {
        if let configured {
            return configured == "direct" ? .direct : .proxy(try parse(configured, source: "the configuration"))
        }
        let names = isSecure ? ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] : ["http_proxy"]
        for name in names {
            guard let text = environment(name), !text.isEmpty else { continue }
            let exceptions = [environment("no_proxy"), environment("NO_PROXY")].compactMap { $0 }.first { !$0.isEmpty }
            if excludes(exceptions ?? "", host: host, port: port) { return .direct }
            return .proxy(try parse(text, source: "$\(name)"))
        }
        return .direct
    }

    /// Returns whether a `NO_PROXY` list names the host.
    package static func excludes(_ list: String, host: String, port: UInt16) -> Bool {
        let wanted = canonical(host)
        return list.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }).contains { entry in
            if entry == "*" { return true }
            var (name, only) = split(String(entry))
            if let only, UInt16(only) != port { return false }
            name = canonical(name)
            if name.hasPrefix("*.") { name.removeFirst() }
            let isSuffix = name.hasPrefix(".")
            let bare = isSuffix ? String(name.dropFirst()) : name
            return !bare.isEmpty && (wanted == bare || wanted.hasSuffix("." + bare))
        }
    }

    /// Reads `http://[user:password@]host[:port]`; a bare `host:port` counts as `http://` too.
    package static func parse(_ text: String, source: String) throws(Fault) -> Proxy {
        var rest = Substring(text)
        if let scheme = rest.range(ofFirst: "://") {
            guard rest[..<scheme.lowerBound].lowercased() == "http" else {
                throw Fault(source: source, reason: "only http:// proxies are supported")
            }
            rest = rest[scheme.upperBound...]
        }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var credentials: Secret?
        if let at = rest.lastIndex(of: "@") {
            guard let decoded = percentDecoded(rest[..<at]), !decoded.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f })
            else { throw Fault(source: source, reason: "its user name or password is not percent-encoded well") }
            credentials = Secret(decoded)
            rest = rest[rest.index(after: at)...]
        }
        let (host, portText) = split(String(rest))
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            throw Fault(source: source, reason: "it has no host")
        }
        guard let port = UInt16(portText ?? "80"), port > 0 else {
            throw Fault(source: source, reason: "its port is no number from 1 to 65535")
        }
        return Proxy(host: host, port: port, credentials: credentials)
    }

    /// Splits `host`, `host:port`, `[address]` and `[address]:port`; an address of IPv6 without brackets has no port.
    private static func split(_ text: String) -> (host: String, port: String?) {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            let after = text[text.index(after: end)...]
            let host = String(text[text.index(after: text.startIndex)..<end])
            return (host, after.hasPrefix(":") ? String(after.dropFirst()) : nil)
        }
        guard let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon else { return (text, nil) }
        return (String(text[..<colon]), String(text[text.index(after: colon)...]))
    }

    private static func canonical(_ host: String) -> String {
        var host = host.lowercased()
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.hasSuffix(".") { host.removeLast() }
        return host
    }

    private static func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(Substring(rest.prefix(2))), radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension Substring {
    /// The first place where `part` stands.
    fileprivate func range(ofFirst part: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(part) { return start..<(index(start, offsetBy: part.count)) }
            start = index(after: start)
        }
        return nil
    }
}
