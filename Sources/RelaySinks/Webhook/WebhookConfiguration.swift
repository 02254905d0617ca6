package import HTTPClient
package import RelayCore

/// The keys of a sink of the type `webhook`.
package struct WebhookConfiguration: Sendable {
    /// Where notices are sent.
    package var url: WebhookText
    /// `POST` or `PUT`.
    package var method = HTTPRequest.Method.post
    /// Header fields to add.
    ///
    /// Of those that the relay sends itself they replace `Content-Type` and `User-Agent`.
    package var headers: [(name: String, value: WebhookText)] = []
    /// What to send; nil for the JSON line of the notice.
    package var body: JSONTemplate?
    /// How long an attempt may take.
    package var timeout = Duration.seconds(15)
    /// Whether deliveries go one at a time in the order accepted.
    package var isOrdered = false
    /// How many attempts may run at the same time, if not ordered.
    package var inFlight = 10
    /// How to get to the host.
    package var proxy = HTTPRequest.Proxy.environment
    /// Whom to trust and who to be.
    package var tls = HTTPRequest.TLS()
    /// Whether secrets may travel without TLS to another machine.
    package var isInsecure = false

    /// The keys that the design has and that are not built: for `ObjectReader.finish(notYet:)`.
    package static let notYetKeys = ["secret"]

    /// How many header fields may be added.
    private static let maxHeaders = 64

    /// Creates a configuration with the defaults.
    package init(url: WebhookText) {
        self.url = url
    }

    /// The secrets to read before the sink is made: the URL's first, then those of the headers.
    package var secrets: [SecretSource] {
        ([url.source] + headers.map(\.value.source)).compactMap { $0 }
    }

    /// Takes the keys of this type; reports what is wrong.
    ///
    /// Returns nil if there is no URL to send to.
    package static func read(_ reader: inout ObjectReader) -> WebhookConfiguration? {
        let problems = reader.problems
        let urlNode = reader.required("url")
        let url = urlNode.flatMap { text($0, problems) }
        var configuration = WebhookConfiguration(url: url ?? .written(Secret("")))
        configuration.isInsecure = reader.bool("insecure", default: false)
        if let urlNode, case .written(let address)? = url {
            if let fault = configuration.fault(inURL: address) { problems.add(at: urlNode, fault) }
        }
        if let node = reader.optional("method") { configuration.method = method(node, problems) }
        if let node = reader.optional("headers") { configuration.headers = headers(node, problems) }
        configuration.body = reader.optional("body").flatMap { JSONTemplate.read($0, problems) }
        configuration.timeout = reader.duration(
            "timeout", default: configuration.timeout, in: .milliseconds(100)...(.seconds(300)))
        configuration.isOrdered = reader.bool("ordered", default: false)
        configuration.inFlight = reader.integer("inFlight", default: configuration.inFlight, in: 1...64)
        if let node = reader.optional("proxy") { configuration.proxy = proxy(node, problems) }
        if let node = reader.optional("tls") { configuration.tls = tls(node, problems) }
        return url == nil ? nil : configuration
    }

    /// Returns what is wrong with a URL, or nil.
    ///
    /// For one that is a secret it is asked once it was read.
    package func fault(inURL url: Secret) -> String? {
        switch HTTPAddress.parse(url.reveal()) {
        case .failure(let fault): "the URL \(fault.message)"
        case .success(let address) where address.scheme != "https" && !address.isLoopback && !isInsecure:
            "the URL must begin with \"https://\", since it is a secret; or allow it with \"insecure\": true"
        case .success: nil
        }
    }

    // MARK: Single keys

    private static func text(_ node: ConfigurationNode, _ problems: Problems) -> WebhookText? {
        switch node.value {
        case .string(let text): return .written(Secret(text))
        case .object: return SecretSource.read(node, problems).map { .secret($0) }
        default:
            problems.add(
                at: node, "expected a string or the place of a secret such as {\"env\": \"NAME\"}, found \(node.kind)")
            return nil
        }
    }

    private static func method(_ node: ConfigurationNode, _ problems: Problems) -> HTTPRequest.Method {
        switch node.string(problems) {
        case "POST"?: return .post
        case "PUT"?: return .put
        case let other?: problems.add(at: node, "expected \"POST\" or \"PUT\", found \"\(other)\"")
        case nil: break
        }
        return .post
    }

    /// What the connection or the relay decides, so that a file cannot.
    private static let reservedNames: Set = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect",
        "proxy-authorization", "proxy-connection", "webhook-id",
    ]

    private static func headers(_ node: ConfigurationNode, _ problems: Problems) -> [(name: String, value: WebhookText)]
    {
        guard case .object(let members) = node.value else {
            problems.add(at: node, "expected an object of header names and values, found \(node.kind)")
            return []
        }
        if members.count > maxHeaders { problems.add(at: node, "has more than \(maxHeaders) header fields") }
        var seen: Set<String> = []
        return members.compactMap { member in
            let value = member.value
            func report(_ message: String) {
                problems.add(Problem(.error, at: member.keyPosition, path: value.path, message: message))
            }
            let lowercased = member.key.lowercased()
            if !HTTPField.isName(member.key) {
                report("a header name has only letters, digits and \"-\"")
            } else if reservedNames.contains(lowercased) {
                report("the relay sets the header \"\(member.key)\" itself")
            } else if !seen.insert(lowercased).inserted {
                report("the header \"\(member.key)\" stands twice; case does not count")
            }
            guard let text = text(value, problems) else { return nil }
            if case .written(let written) = text, !HTTPField.isValue(written.reveal()) {
                problems.add(at: value, "has a line break, another control character, or a space at an end")
            }
            return (member.key, text)
        }
    }

    private static func proxy(_ node: ConfigurationNode, _ problems: Problems) -> HTTPRequest.Proxy {
        guard let text = node.string(problems) else { return .environment }
        let schemes = ["http://", "https://", "socks5://", "socks5h://"]
        guard let scheme = schemes.first(where: { text.lowercased().hasPrefix($0) }) else {
            problems.add(at: node, "a proxy begins with \"http://\", \"https://\", \"socks5://\" or \"socks5h://\"")
            return .environment
        }
        if case .failure(let fault) = HTTPAddress.parse("http://" + text.dropFirst(scheme.count)) {
            problems.add(at: node, "the proxy's URL \(fault.message)")
        }
        return .url(text)
    }

    private static func tls(_ node: ConfigurationNode, _ problems: Problems) -> HTTPRequest.TLS {
        guard var reader = ObjectReader(node, problems) else { return HTTPRequest.TLS() }
        func path(_ key: String) -> String? {
            guard let node = reader.optional(key), let path = node.string(problems) else { return nil }
            if path.isEmpty || path.utf8.contains(0) { problems.add(at: node, "expected the path of a PEM file") }
            return path
        }
        let tls = HTTPRequest.TLS(
            authorityFile: path("ca"), certificateFile: path("certificate"), keyFile: path("key"))
        reader.finish()
        if tls.keyFile != nil, tls.certificateFile == nil {
            problems.add(at: node, "\"key\" needs \"certificate\" beside it")
        }
        return tls
    }
}
