package import RelayCore
internal import WebSocketCodec

extension StreamConfiguration {
    /// What one entry of `streams` says.
    package struct Entry: Sendable {
        /// How to connect.
        package var configuration: StreamConfiguration
        /// The value of `format`, for whoever decodes.
        package var format: ConfigurationNode?
        /// The value of `link`, for whoever renders.
        package var link: ConfigurationNode?
    }

    /// Keys that the design has and this version has not.
    private static let notYet = ["send", "refused", "expect"]

    /// Reads the entry `name`; adds all that is wrong with it to `problems`, and returns nil without a usable URL.
    package static func read(name: String, node: ConfigurationNode, problems: Problems) -> Entry? {
        guard var reader = ObjectReader(node, problems) else { return nil }
        let insecure = reader.bool("insecure", default: false)
        let url = reader.required("url").flatMap { readURL($0, insecure: insecure, problems) }
        let token = reader.optional("token").flatMap { SecretSource.read($0, problems) }
        let format = reader.optional("format")
        let link = reader.optional("link")
        let handshake = HandshakePart(&reader)
        let timing = TimingPart(&reader)
        let maxMessage = reader.integer("maxMessage", default: 1 << 20, in: 1024...(1 << 26))
        let proxy = reader.optional("proxy").flatMap { readProxy($0, problems) }
        let tls = reader.optional("tls").map { readTLS($0, isSecure: url?.secure ?? true, problems) }
        let catchUp = reader.optional("catchUp")
        reader.finish(notYet: notYet)
        guard let url else { return nil }
        var configuration = StreamConfiguration(name: name, url: url, token: token)
        configuration.header = handshake.header
        configuration.scheme = handshake.scheme
        configuration.headers = handshake.headers
        configuration.subprotocol = handshake.subprotocol
        configuration.ping = timing.ping
        configuration.pongTimeout = timing.pongTimeout
        configuration.redial = timing.redial
        configuration.authCloseCodes = timing.authCloseCodes
        configuration.maxMessage = maxMessage
        configuration.proxy = proxy
        configuration.tls = tls ?? TLSFiles()
        configuration.catchUp = catchUp.flatMap {
            CatchUpConfiguration.read($0, of: .init(url: url, isInsecure: insecure, format: format), problems)
        }
        return Entry(configuration: configuration, format: format, link: link)
    }

    private static func readURL(
        _ node: ConfigurationNode, insecure: Bool, _ problems: Problems
    ) -> WebSocketURL? {
        guard let text = node.string(problems, expected: "a URL such as \"wss://example.com/ws\"") else { return nil }
        do throws(URLFault) {
            let url = try WebSocketURL(text)
            guard url.secure || insecure || url.isLoopback else {
                problems.add(
                    at: node, "ws:// would send the token in the clear; use wss://, or set \"insecure\": true")
                return nil
            }
            return url
        } catch {
            problems.add(at: node, error.message)
            return nil
        }
    }

    private static func readProxy(_ node: ConfigurationNode, _ problems: Problems) -> String? {
        let expected = "\"http://host:port\" or \"direct\""
        guard let text = node.string(problems, expected: expected) else { return nil }
        if text == "direct" { return text }
        do throws(ProxyChoice.Fault) {
            guard try ProxyChoice.parse(text, source: "the configuration").credentials == nil else {
                problems.add(at: node, "a password is not written here; put the URL into $HTTPS_PROXY")
                return nil
            }
            return text
        } catch {
            problems.add(at: node, "expected \(expected): \(error.reason)")
            return nil
        }
    }

    private static func readTLS(_ node: ConfigurationNode, isSecure: Bool, _ problems: Problems) -> TLSFiles {
        guard var reader = ObjectReader(node, problems) else { return TLSFiles() }
        if !isSecure { problems.add(at: node, "has no meaning for a ws:// URL") }
        let files = TLSFiles(
            authorities: reader.string("ca"), certificate: reader.string("certificate"), key: reader.string("key"))
        reader.finish()
        if files.key != nil, files.certificate == nil {
            problems.add(at: node, "\"key\" needs the \"certificate\" that it belongs to")
        }
        return files
    }
}

/// The keys that make the HTTP request.
private struct HandshakePart {
    /// Headers that the handshake itself sets (RFC 6455, section 4.1), or that would break its framing.
    private static let reserved: Set<String> = [
        "host", "connection", "upgrade", "content-length", "transfer-encoding", "te", "trailer",
        "proxy-authorization",
    ]

    var header: String
    var scheme: String
    var headers: [StreamConfiguration.Header] = []
    var subprotocol: String?

    init(_ reader: inout ObjectReader) {
        let problems = reader.problems
        header = reader.optional("header").flatMap { Self.name($0, problems) } ?? "Authorization"
        scheme = "Bearer"
        if let node = reader.optional("scheme"), let text = node.string(problems) {
            if text.isEmpty || isToken(text) {
                scheme = text
            } else {
                problems.add(at: node, "must be one word, such as \"Bearer\", or empty for the bare token")
            }
        }
        if let node = reader.optional("subprotocol"), let text = node.string(problems) {
            if isToken(text) { subprotocol = text } else { problems.add(at: node, "must be one word") }
        }
        if let node = reader.optional("headers") { readHeaders(node, problems) }
    }

    private mutating func readHeaders(_ node: ConfigurationNode, _ problems: Problems) {
        guard case .object(let members) = node.value else {
            problems.add(at: node, "expected an object, found \(node.kind)")
            return
        }
        for member in members {
            let named = ConfigurationNode(.string(member.key), at: member.keyPosition, path: member.value.path)
            guard let name = Self.name(named, problems) else { continue }
            guard name.lowercased() != header.lowercased() else {
                problems.add(at: named, "is the header of the token; change it with \"header\" and \"scheme\"")
                continue
            }
            if case .string(let text) = member.value.value {
                guard isHeaderValue(text) else {
                    problems.add(at: member.value, "must not hold line breaks or other control characters")
                    continue
                }
                headers.append(.init(name: name, value: .text(text)))
            } else if let source = SecretSource.read(member.value, problems) {
                headers.append(.init(name: name, value: .secret(source)))
            }
        }
    }

    private static func name(_ node: ConfigurationNode, _ problems: Problems) -> String? {
        guard let text = node.string(problems) else { return nil }
        guard isToken(text) else {
            problems.add(at: node, "is no header name")
            return nil
        }
        guard !reserved.contains(text.lowercased()), !text.lowercased().hasPrefix("sec-websocket-") else {
            problems.add(at: node, "is set by the WebSocket handshake itself")
            return nil
        }
        return text
    }
}

/// The keys that say how long and how often.
private struct TimingPart {
    var ping: Duration
    var pongTimeout: Duration
    var redial = RedialPolicy()
    var authCloseCodes: Set<UInt16> = []

    init(_ reader: inout ObjectReader) {
        let problems = reader.problems
        ping = reader.duration("ping", default: .seconds(30), in: .milliseconds(100)...(.seconds(3600)))
        pongTimeout = reader.duration("pongTimeout", default: .seconds(10), in: .milliseconds(100)...(.seconds(600)))
        for node in reader.optional("authCloseCodes")?.list ?? [] {
            if let code = node.integer(problems, in: 1000...4999) { authCloseCodes.insert(UInt16(code)) }
        }
        guard let node = reader.optional("redial"), var redial = ObjectReader(node, problems) else { return }
        let base = redial.duration("base", default: .seconds(1), in: .milliseconds(100)...(.seconds(300)))
        let cap = redial.duration("cap", default: max(.seconds(30), base), in: .milliseconds(100)...(.seconds(3600)))
        let held = redial.duration("held", default: .seconds(30), in: .zero...(.seconds(86_400)))
        redial.finish()
        if cap < base { problems.add(at: node, "\"cap\" must not be shorter than \"base\"") }
        self.redial = RedialPolicy(base: base, cap: max(base, cap), held: held)
    }
}

/// Returns whether a text is a token of HTTP (RFC 9110, section 5.6.2).
private func isToken(_ text: String) -> Bool {
    !text.isEmpty
        && text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
}

/// Returns whether a text can be the value of a header: no control characters, so that no line can be added.
private func isHeaderValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
}
