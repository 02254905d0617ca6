import RelayCore

extension Event {
    /// An event of the stream `chirp` made at 2030-01-02T03:04:05Z.
    static func sample(
        id: String = "11111111-1111-4111-8111-111111111111", kind: String = "like", actor: String? = "alice",
        post: String? = nil
    ) -> Event {
        // The id does not lie at 0, so that a line that ignores offsets is seen.
        var storage: [UInt8] = Array("head".utf8)
        func add(_ text: String) -> TextRange {
            defer { storage.append(contentsOf: text.utf8) }
            return TextRange(offset: UInt32(storage.count), count: UInt32(text.utf8.count))
        }
        var record = EventRecord(
            identity: EventID(high: 1, low: 2), createdAt: Instant(milliseconds: 1_893_553_445_000), id: add(id),
            kind: add(kind))
        if let actor { record.actor = add(actor) }
        if let post { record.post = add(post) }
        return Event(storage: storage, record: record, stream: "chirp")
    }
}

/// Names that break what encodes carelessly.
enum HostileText {
    static let all: [String] = [
        "", "alice", "\"", "\\", "\\\"", "a\nb\r\nc", "\u{0}", "\u{1b}[31mred\u{1b}]0;title\u{7}",
        "\u{7f}\u{80}\u{9b}2J",
        "\u{202e}evil\u{202c}", "\u{2066}x\u{2069}", "\u{feff}bom", "line\u{2028}sep\u{2029}", "😀👨‍👩‍👧‍👦🏴", "<b>&amp;</b> 😀",
        "A&B <3",
        "<small>", "<a href=\"file:///x\">y</a>", "<img src=\"http://127.0.0.1:9/x\">", "--help", "$(id)", ";reboot",
        "a" + String(repeating: "\u{301}", count: 50), "{\"type\":\"event\"}", "@everyone <!channel>", "\u{fffd}",
        String(repeating: "A", count: 5000), String(repeating: "\n", count: 300), "{actor} %s %n", "日本語テキスト",
    ]
}

extension Delivery {
    /// A delivery of the sample event.
    static func sample(key: String = "KEY1", title: String = "alice liked your post", body: String = "") -> Delivery {
        Delivery(
            key: key, sink: "sink",
            notice: Notice(title: UntrustedText(title), body: UntrustedText(body), rule: "everything"),
            content: .event(.sample()))
    }
}

/// A clock on which every deadline has passed.
struct PassedClock: RelayClock {
    func now() -> Instant { Instant(milliseconds: 0) }
    func wallNow() -> Instant { Instant(milliseconds: 0) }
    func sleep(until deadline: Instant) async throws {}
}

/// Collects what is reported from any thread, and lets a test await the next item.
final class Collected<Item: Sendable>: Sendable {
    private let stream: AsyncStream<Item>
    private let continuation: AsyncStream<Item>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func add(_ item: Item) {
        continuation.yield(item)
    }

    /// Awaits the next item.
    func next() async -> Item? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }
}
