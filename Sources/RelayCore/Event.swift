/// Where a piece of text lies in the storage of an event.
@usableFromInline package struct TextRange: Sendable, Equatable, BitwiseCopyable {
    /// The offset of the first byte.
    @usableFromInline package var offset: UInt32
    /// The number of bytes; `absent` has none of its own.
    @usableFromInline package var count: UInt32

    /// Creates a range.
    @inlinable package init(offset: UInt32, count: UInt32) {
        self.offset = offset
        self.count = count
    }

    /// The range of a field that the event does not have.
    @inlinable package static var absent: TextRange { TextRange(offset: .max, count: 0) }
    /// Whether the event has the field.
    @inlinable package var isPresent: Bool { offset != .max }
}

/// The fields of one event as places in a storage of bytes.
@usableFromInline package struct EventRecord: Sendable, Equatable, BitwiseCopyable {
    /// The identity used for dedupe.
    @usableFromInline package var identity: EventID
    /// When it happened by the server's clock, else when it was received.
    @usableFromInline package var createdAt: Instant
    /// The id as text, as the server sent it or as the relay gave it.
    ///
    /// Always present.
    @usableFromInline package var id: TextRange
    /// The kind, always present.
    @usableFromInline package var kind: TextRange
    /// Who did it.
    @usableFromInline package var actor: TextRange
    /// The post it is about.
    @usableFromInline package var post: TextRange
    /// The text of a comment.
    @usableFromInline package var text: TextRange
    /// A link that the event carries.
    @usableFromInline package var link: TextRange
    /// The whole item as it came, as JSON.
    @usableFromInline package var raw: TextRange
    /// Whether the id came from the server (else the relay gave one, and there is no dedupe for it).
    @usableFromInline package var hasServerID: Bool

    /// Creates a record whose optional fields are absent.
    @inlinable package init(identity: EventID, createdAt: Instant, id: TextRange, kind: TextRange) {
        self.identity = identity
        self.createdAt = createdAt
        self.id = id
        self.kind = kind
        actor = .absent
        post = .absent
        text = .absent
        link = .absent
        raw = .absent
        hasServerID = true
    }
}

/// One thing that happened: id, kind, actor, post, time, and the fields as they came.
///
/// The text lies in a storage that all events of a batch share, so reading a field makes no string. All of it is
/// valid UTF-8. An event that is kept for long should be `compacted()`, or it keeps the whole batch's storage.
@usableFromInline package struct Event: Sendable, Equatable {
    /// The bytes that the ranges of `record` point into.
    @usableFromInline package let storage: [UInt8]
    /// Where the fields are.
    @usableFromInline package var record: EventRecord
    /// The name of the stream it came from.
    @usableFromInline package let stream: String

    /// Creates an event over `storage`; every present range of `record` must lie within it.
    @inlinable package init(storage: [UInt8], record: EventRecord, stream: String) {
        self.storage = storage
        self.record = record
        self.stream = stream
    }

    /// Runs `body` with the bytes of a field, or with none if the field is absent.
    @inlinable package func withBytes<Result>(of range: TextRange, _ body: (RawSpan) -> Result) -> Result {
        Self.withBytes(of: range, in: storage, body)
    }

    /// The storage by itself: a span of a part of a structure copies all of the structure.
    @inlinable @inline(__always)
    static func withBytes<Result>(of range: TextRange, in storage: [UInt8], _ body: (RawSpan) -> Result) -> Result {
        let start = range.isPresent ? Int(range.offset) : 0
        return body(storage.span.bytes.extracting(start..<(start + Int(range.count))))
    }

    /// Returns a field as text, or nil if it is absent.
    package func text(of range: TextRange) -> UntrustedText? {
        guard range.isPresent else { return nil }
        return UntrustedText(utf8: Array(storage[Int(range.offset)..<(Int(range.offset) + Int(range.count))]))
    }

    /// Returns the text of a value of the event as it came; nil if there is none, or it has no text.
    package func text(of pointer: JSONPointer) -> UntrustedText? {
        guard record.raw.isPresent else { return nil }
        return withBytes(of: record.raw) { raw in
            var text = UntrustedText()
            guard let value = JSONLookup.find(pointer, in: raw), value.append(from: raw, to: &text.utf8) else {
                return nil
            }
            return text
        }
    }

    /// Returns the same event over a storage of its own.
    package func compacted() -> Event {
        var bytes: [UInt8] = []
        var copy = record
        func move(_ range: inout TextRange) {
            guard range.isPresent else { return }
            let start = Int(range.offset)
            range.offset = UInt32(bytes.count)
            bytes.append(contentsOf: storage[start..<(start + Int(range.count))])
        }
        for field in [\EventRecord.id, \.kind, \.actor, \.post, \.text, \.link, \.raw] { move(&copy[keyPath: field]) }
        return Event(storage: bytes, record: copy, stream: stream)
    }
}

/// The events decoded from what one read of the socket brought, in the order of the stream.
@usableFromInline package struct EventBatch: Sendable {
    /// The bytes of all events.
    ///
    /// At most 4 GiB; a read brings far less.
    @usableFromInline package var storage: [UInt8] = []
    /// The events, oldest first.
    @usableFromInline package var records: [EventRecord] = []
    /// The name of the stream.
    @usableFromInline package let stream: String

    /// Creates an empty batch of a stream.
    package init(stream: String) {
        self.stream = stream
    }

    /// The event at `index`.
    @inlinable package subscript(index: Int) -> Event {
        Event(storage: storage, record: records[index], stream: stream)
    }

    /// Forgets all events, and with them the storage, which may be shared with what read it.
    package mutating func removeAll() {
        storage = []
        records.removeAll(keepingCapacity: true)
    }
}
