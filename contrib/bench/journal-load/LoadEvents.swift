import RelayCore

/// Events of 500 bytes each as they came, all different.
enum LoadEvents {
    private static let size = 500

    /// The id of an event.
    static func id(_ number: Int) -> String { uuid("11111111", number) }

    private static func uuid(_ first: String, _ number: Int) -> String {
        let digits = String(number)
        return first + "-1111-4111-8111-" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }

    /// Makes an event.
    static func event(_ number: Int, at createdAt: Instant) -> Event {
        let id = id(number)
        let (actor, post) = ("somebody\(number % 1000)", uuid("22222222", number % 500))
        let head = #"{"id":"\#(id)","kind":"comment","actorUsername":"\#(actor)","postID":"\#(post)","text":""#
        let text = String(repeating: "x", count: size - head.utf8.count - 2)
        // The fields are places in the event as it came, as the decoder makes them.
        let storage = Array((head + text + #""}"#).utf8)
        func place(_ before: String, _ value: String) -> TextRange {
            TextRange(offset: UInt32(before.utf8.count), count: UInt32(value.utf8.count))
        }
        var record = EventRecord(
            identity: EventID(text: Array(id.utf8).span.bytes), createdAt: createdAt, id: place(#"{"id":""#, id),
            kind: place(#"{"id":"\#(id)","kind":""#, "comment"))
        record.actor = place(#"{"id":"\#(id)","kind":"comment","actorUsername":""#, actor)
        record.post = place(#"{"id":"\#(id)","kind":"comment","actorUsername":"\#(actor)","postID":""#, post)
        record.text = place(head, text)
        record.raw = TextRange(offset: 0, count: UInt32(storage.count))
        return Event(storage: storage, record: record, stream: "chirp")
    }
}

/// Notices of about the size that the relay's own have.
struct LoadRenderer: NoticeRenderer {
    func notice(rule: Int, for event: Event, suppressed: Int) -> Notice {
        Notice(
            title: event.text(of: event.record.actor) ?? UntrustedText(),
            body: event.text(of: event.record.text) ?? UntrustedText(), rule: "comments", suppressed: suppressed)
    }

    func notice(rule: Int, for digest: Gathering, suppressed: Int) -> Notice { Notice(rule: "comments") }

    func briefing(time: String, of gathering: Gathering) -> Notice { Notice() }
}
