internal import RelayCore

/// Makes up events as a social network would push them: mostly likes, some comments, a few follows, among them the odd
/// things that a real stream brings.
struct DemoEvents: Sendable {
    private static let actors = [
        "ann", "bo", "chloé", "dmitri", "eve", "farid", "grace", "hiro", "ines", "jonas", "news_bot", "promo_deals",
        "<b>&amp;</b> 😀",
    ]
    private static let comments = [
        "So good!", "Where was this taken?", "I have been waiting for this one.", "1 < 2 && 3 > 2, obviously",
        "First!\nAnd second.", "👏👏👏",
    ]

    private var posts: [String] = []
    private var generator: any RandomNumberGenerator & Sendable

    /// Creates a source of events.
    init(generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.generator = generator
        posts = (0..<4).map { _ in Self.uuid(using: &self.generator) }
    }

    /// Returns the next event as the JSON of a Chirp server.
    mutating func next(at now: Instant) -> [UInt8] {
        let roll = Int.random(in: 0..<100, using: &generator)
        let kind = roll < 60 ? "like" : roll < 85 ? "comment" : roll < 98 ? "follow" : "mention"
        var json: [UInt8] = Array("{\"id\":\"\(Self.uuid(using: &generator))\",\"kind\":\"\(kind)\"".utf8)
        append("actorUsername", pick(Self.actors), to: &json)
        if kind == "follow" {
            json.append(contentsOf: ",\"postID\":null".utf8)
        } else {
            append("postID", pick(posts), to: &json)
        }
        if kind == "comment" { append("text", pick(Self.comments), to: &json) }
        json.append(contentsOf: ",\"createdAt\":\"".utf8)
        TimestampText.append(now, to: &json)
        json.append(contentsOf: "\"}".utf8)
        return json
    }

    private mutating func pick(_ values: [String]) -> String {
        values.randomElement(using: &generator) ?? ""
    }

    private func append(_ name: String, _ value: String, to json: inout [UInt8]) {
        json.append(contentsOf: ",\"\(name)\":\"".utf8)
        JSONText.append(Array(value.utf8), to: &json)
        json.append(UInt8(ascii: "\""))
    }

    /// A random (version 4) UUID, RFC 9562, section 5.4.
    private static func uuid(using generator: inout any RandomNumberGenerator & Sendable) -> String {
        let high = (generator.next() & 0xFFFF_FFFF_FFFF_0FFF) | 0x4000
        let low = (generator.next() & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
        let digits = [high, low].map { half in
            let text = String(half, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
        var parts: [Substring] = []
        var rest = digits[...]
        for length in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return parts.joined(separator: "-")
    }
}
