internal import GLibRuntime
internal import RelayCore

/// The words of notices of one event.
enum Wording {
    /// The placeholders of titles, bodies and urgencies.
    static let placeholders = Placeholder.ofEvents + Placeholder.ofDigests

    /// Appends a template filled from an event.
    static func append(
        _ template: Template, _ event: Event, in zone: Zone?, as layout: TextCleaning.Layout, to bytes: inout [UInt8]
    ) {
        for part in template.parts {
            switch part {
            case .literal(let literal): bytes.append(contentsOf: literal)
            case .field(let pointer): append(pointer, of: event, as: layout, to: &bytes)
            case .placeholder(let placeholder): append(placeholder, event, zone, layout, to: &bytes)
            }
        }
    }

    /// Appends what a placeholder stands for.
    static func append(
        _ placeholder: Placeholder, _ event: Event, _ zone: Zone?, _ layout: TextCleaning.Layout,
        to bytes: inout [UInt8]
    ) {
        switch placeholder {
        case .id: append(event.record.id, of: event, as: .line, to: &bytes)
        case .actor, .actors: appendActor(of: event, to: &bytes)
        case .kind: append(event.record.kind, of: event, as: .line, to: &bytes)
        case .post, .posts: append(event.record.post, of: event, as: .line, to: &bytes)
        case .text: append(event.record.text, of: event, as: layout, to: &bytes)
        case .createdAt, .first, .last:
            let time = LocalTime.dateAndMinute(ofMilliseconds: event.record.createdAt.milliseconds, in: zone)
            bytes.append(contentsOf: time.utf8)
        case .count: bytes.append(UInt8(ascii: "1"))
        case .stream: TextCleaning.append(event.stream.utf8.span.bytes, to: &bytes)
        case .title, .body, .link, .rule, .sink, .key: break
        }
    }

    /// Appends the text of a value of the event as it came.
    static func append(
        _ pointer: JSONPointer, of event: Event, as layout: TextCleaning.Layout, to bytes: inout [UInt8]
    ) {
        guard let text = event.text(of: pointer) else { return }
        TextCleaning.append(text.utf8.span.bytes, to: &bytes, as: layout)
    }

    /// Appends the usual title: `ann liked your post`.
    static func appendTitle(_ event: Event, to bytes: inout [UInt8]) {
        appendActor(of: event, to: &bytes)
        switch event.withBytes(of: event.record.kind, { UsualKind($0) }) {
        case .like: append(" liked your post", to: &bytes)
        case .comment: append(" commented on your post", to: &bytes)
        case .follow: append(" followed you", to: &bytes)
        case nil:
            append(": ", to: &bytes)
            append(event.record.kind, of: event, as: .line, to: &bytes)
        }
    }

    /// Appends the actor, or `someone` if there is none or nothing of the name can be seen.
    static func appendActor(of event: Event, to bytes: inout [UInt8]) {
        let before = bytes.count
        append(event.record.actor, of: event, as: .line, to: &bytes)
        if bytes.count == before { append("someone", to: &bytes) }
    }

    /// Appends a field, cleaned.
    static func append(
        _ range: TextRange, of event: Event, as layout: TextCleaning.Layout, to bytes: inout [UInt8]
    ) {
        guard range.isPresent else { return }
        event.withBytes(of: range) { TextCleaning.append($0, to: &bytes, as: layout) }
    }

    private static func append(_ text: StaticString, to bytes: inout [UInt8]) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }
}

/// The kinds that the Chirp API sends, for which there are words.
enum UsualKind {
    case like, comment, follow

    /// The kind of an event; nil for another one.
    init?(_ event: Event) {
        guard let kind = event.withBytes(of: event.record.kind, { UsualKind($0) }) else { return nil }
        self = kind
    }

    /// The kind of this name; nil for another one.
    init?(_ name: RawSpan) {
        if Self.is(name, "like") {
            self = .like
        } else if Self.is(name, "comment") {
            self = .comment
        } else if Self.is(name, "follow") {
            self = .follow
        } else {
            return nil
        }
    }

    @inline(__always)
    private static func `is`(_ name: RawSpan, _ kind: StaticString) -> Bool {
        guard name.byteCount == kind.utf8CodeUnitCount else { return false }
        return kind.withUTF8Buffer { kind in
            kind.indices.allSatisfy { kind[$0] == name.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
        }
    }
}
