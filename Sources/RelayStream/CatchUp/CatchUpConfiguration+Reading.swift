internal import RelayCore
internal import WebSocketCodec

extension CatchUpConfiguration {
    /// What the reader must know of the stream.
    struct Stream {
        /// Where it connects.
        var url: WebSocketURL
        /// Whether the token may travel in the clear.
        var isInsecure: Bool
        /// The value of `format`.
        var format: ConfigurationNode?
    }

    /// Reads the value of `catchUp`; reports what is wrong and returns nil for it.
    static func read(_ node: ConfigurationNode, of stream: Stream, _ problems: Problems) -> CatchUpConfiguration? {
        guard var reader = ObjectReader(node, problems) else { return nil }
        let urlNode = reader.required("url")
        let url = urlNode.flatMap { readURL($0, stream, problems) }
        let events = reader.required("events").flatMap { JSONPointer.read($0, problems) }
        let order = reader.required("order").flatMap { readOrder($0, problems) }
        let nextNode = reader.optional("next")
        let next = nextNode.flatMap { readNext($0, problems) }
        let maxPages = reader.integer("maxPages", default: 20, in: pages)
        let maxEvents = reader.integer("maxEvents", default: 10_000, in: eventCount)
        reader.finish()
        if !mapsID(stream.format) {
            problems.add(
                at: node, "goes by the ids of events, and the \"format\" of the stream maps none; add its \"id\"")
        }
        guard let urlNode, let url, let events, let order else { return nil }
        if order == .oldest, !url.asksByCursor {
            problems.add(
                at: urlNode, "needs {cursor} or {cursorTime}: \"oldest\" begins at the last event, not at the first one"
            )
        }
        if order == .newest, nextNode == nil {
            problems.add(
                .warning, at: node, "without \"next\" only one page is fetched; what it does not reach back to is lost")
        }
        var configuration = CatchUpConfiguration(url: url, events: events, order: order, next: next)
        configuration.maxPages = maxPages
        configuration.maxEvents = maxEvents
        return configuration
    }

    private static func readURL(_ node: ConfigurationNode, _ stream: Stream, _ problems: Problems) -> CatchUpURL? {
        let expected = "a path such as \"/events?after={cursor}\", or a URL"
        guard let text = node.string(problems, expected: expected) else { return nil }
        do throws(CatchUpURL.Fault) {
            return try CatchUpURL(text, stream: stream.url, insecure: stream.isInsecure)
        } catch {
            problems.add(at: node, error.message)
            return nil
        }
    }

    private static func readOrder(_ node: ConfigurationNode, _ problems: Problems) -> Order? {
        guard let text = node.string(problems, expected: "\"oldest\" or \"newest\"") else { return nil }
        if let order = Order(rawValue: text) { return order }
        let suggestion = NearestName.suggestion(for: text, among: Order.allCases.map(\.rawValue))
        problems.add(at: node, "expected \"oldest\" or \"newest\", found \(Shown.quoted(text))\(suggestion)")
        return nil
    }

    private static func readNext(_ node: ConfigurationNode, _ problems: Problems) -> Next? {
        let expected = "\"link\", or a JSON Pointer such as \"/next\""
        guard let text = node.string(problems, expected: expected) else { return nil }
        if text == "link" { return .link }
        if let pointer = JSONPointer(text), !pointer.keys.isEmpty { return .pointer(pointer) }
        if text.isEmpty {
            problems.add(at: node, "expected \(expected), found an empty text")
        } else if let near = NearestName.nearest(to: text, among: ["link"]) {
            problems.add(at: node, "expected \(expected); did you mean \"\(near)\"?")
        } else {
            _ = JSONPointer.read(node, problems)
        }
        return nil
    }

    /// Whether the format has a place for ids; one that is wrong is told by whoever reads it.
    private static func mapsID(_ format: ConfigurationNode?) -> Bool {
        guard let format else { return EventFormat.chirp.mapsID }
        return EventFormat.read(node: format, problems: Problems())?.mapsID ?? true
    }
}
