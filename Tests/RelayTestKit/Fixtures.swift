package import RelayCore

/// Values that tests of several rooms need.
package enum Fixtures {
    /// An event with these fields, over a storage of its own.
    package static func event(
        id: String = "11111111-1111-4111-8111-111111111111", kind: String = "like", actor: String? = "ann",
        post: String? = nil, text: String? = nil, link: String? = nil, stream: String = "chirp",
        at createdAt: Instant = Instant(milliseconds: 1_893_553_445_000)
    ) -> Event {
        var storage: [UInt8] = []
        func place(_ text: String?) -> TextRange {
            guard let text else { return .absent }
            defer { storage.append(contentsOf: text.utf8) }
            return TextRange(offset: UInt32(storage.count), count: UInt32(text.utf8.count))
        }
        var record = EventRecord(
            identity: EventID(high: UInt64(bitPattern: Int64(id.hashValue)), low: 0), createdAt: createdAt,
            id: place(id), kind: place(kind))
        record.actor = place(actor)
        record.post = place(post)
        record.text = place(text)
        record.link = place(link)
        return Event(storage: storage, record: record, stream: stream)
    }

    /// A delivery to `sink` with this key.
    package static func delivery(_ key: String, to sink: String = "sink", title: String = "title") -> Delivery {
        Delivery(key: key, sink: sink, notice: Notice(title: UntrustedText(title), rule: "rule"), event: event(id: key))
    }

    /// An intake of one delivery for each key.
    package static func intake(_ keys: [String], to sink: String = "sink") -> Intake {
        Intake(event: event(), deliveries: keys.map { delivery($0, to: sink) })
    }
}
