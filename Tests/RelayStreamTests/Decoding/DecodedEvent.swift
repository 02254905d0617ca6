import RelayCore
import RelayStream

/// The fields of an event as strings, to compare.
struct DecodedEvent: Equatable {
    var id: String
    var kind: String
    var actor: String?
    var post: String?
    var text: String?
    var link: String?
    var createdAt: Instant
    var hasServerID = true

    init(_ event: Event) {
        func string(_ range: TextRange) -> String? { event.text(of: range)?.string }
        id = string(event.record.id) ?? "<absent>"
        kind = string(event.record.kind) ?? "<absent>"
        actor = string(event.record.actor)
        post = string(event.record.post)
        text = string(event.record.text)
        link = string(event.record.link)
        createdAt = event.record.createdAt
        hasServerID = event.record.hasServerID
    }
}

/// What a decoder made of some messages.
struct Decoding {
    var batch = EventBatch(stream: "test")
    var outcomes: [DecodeOutcome] = []
    var counts: [DecodeFault: Int] = [:]

    static let receivedAt = Instant(milliseconds: 1_900_000_000_000)

    var events: [DecodedEvent] { batch.records.indices.map { DecodedEvent(batch[$0]) } }
    var kinds: [String] { events.map(\.kind) }
    var ids: [String] { events.map(\.id) }

    init(_ messages: [UInt8]..., format: EventFormat = .chirp) {
        self.init(messages: messages, format: format)
    }

    init(_ messages: String..., format: EventFormat = .chirp) {
        self.init(messages: messages.map { Array($0.utf8) }, format: format)
    }

    init(messages: [[UInt8]], format: EventFormat) {
        var decoder = EventDecoder(
            format: format, ids: IDSource(stream: "test", random: 0xABC, connection: 7))
        for message in messages {
            outcomes.append(decoder.decode(message.span.bytes, receivedAt: Self.receivedAt, into: &batch))
        }
        counts = decoder.counts
    }
}

/// An ordinary event of the Chirp API, with fields replaced (nil: left out).
func chirpEvent(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
    var members: [(key: String, value: String)] = [
        ("id", "\"11111111-1111-4111-8111-111111111111\""), ("kind", "\"like\""), ("actorUsername", "\"alice\""),
        ("postID", "\"22222222-2222-4222-8222-222222222222\""), ("createdAt", "\"2030-01-02T03:04:05Z\""),
    ]
    for (key, value) in changes {
        if let index = members.firstIndex(where: { $0.key == key }) {
            members.remove(at: index)
            if let value { members.insert((key, value), at: index) }
        } else if let value {
            members.append((key, value))
        }
    }
    return "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
}
