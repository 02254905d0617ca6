internal import RelayCore

/// Makes the body of a webhook from a delivery: the same bytes for every attempt.
enum WebhookBody {
    /// The largest body.
    static let maxBytes = 64 * 1024

    /// Returns the body; texts that make it too large are cut on the border of a grapheme, with an ellipsis.
    static func bytes(of delivery: Delivery, _ template: JSONTemplate?) -> [UInt8] {
        var body = render(delivery, template)
        var longest = maxBytes / 2
        // The texts are cut before they are encoded, so never within an escape. 64 bytes always fit, as the limits of
        // `JSONTemplate` see to.
        while body.count > maxBytes, longest >= 64 {
            body = render(shortened(delivery, to: longest), template)
            longest /= 2
        }
        return body
    }

    private static func render(_ delivery: Delivery, _ template: JSONTemplate?) -> [UInt8] {
        guard let template else {
            var line: [UInt8] = []
            NoticeLine.append(delivery, sink: delivery.sink, to: &line)
            return line
        }
        return template.rendered { text(of: $0, in: delivery) }
    }

    /// What a placeholder stands for, or nil if there is no such thing.
    private static func text(of placeholder: Placeholder, in delivery: Delivery) -> [UInt8]? {
        switch placeholder {
        case .title: return delivery.notice.title.utf8
        case .body: return delivery.notice.body.utf8
        case .link: return delivery.notice.link.isEmpty ? nil : delivery.notice.link.utf8
        case .rule: return Array(delivery.notice.rule.utf8)
        case .sink: return Array(delivery.sink.utf8)
        case .key: return Array(delivery.key.utf8)
        case .id, .actor, .kind, .post, .text, .createdAt, .stream:
            guard case .event(let event) = delivery.content else { return nil }
            return text(of: placeholder, in: event)
        }
    }

    private static func text(of placeholder: Placeholder, in event: Event) -> [UInt8]? {
        let record = event.record
        func field(_ range: TextRange) -> [UInt8]? { event.text(of: range)?.utf8 }
        switch placeholder {
        case .id: return field(record.id)
        case .actor: return field(record.actor)
        case .kind: return field(record.kind)
        case .post: return field(record.post)
        case .text: return field(record.text)
        case .createdAt: return Array(TimestampText.format(record.createdAt).utf8)
        case .stream: return Array(event.stream.utf8)
        case .title, .body, .link, .rule, .sink, .key: return nil
        }
    }

    // MARK: Shortening

    private static func shortened(_ delivery: Delivery, to longest: Int) -> Delivery {
        var copy = delivery
        copy.notice.title = UntrustedText(utf8: cut(delivery.notice.title.utf8, to: longest))
        copy.notice.body = UntrustedText(utf8: cut(delivery.notice.body.utf8, to: longest))
        // Half a link leads nowhere.
        if delivery.notice.link.utf8.count > longest { copy.notice.link = UntrustedText() }
        copy.notice.rule = cut(delivery.notice.rule, to: longest)
        copy.sink = cut(delivery.sink, to: longest)
        if case .event(let event) = delivery.content { copy.content = .event(shortened(event, to: longest)) }
        return copy
    }

    private static func shortened(_ event: Event, to longest: Int) -> Event {
        var bytes: [UInt8] = []
        var record = event.record
        record.link = .absent
        record.raw = .absent
        for field in [\EventRecord.id, \.kind, \.actor, \.post, \.text] {
            guard let text = event.text(of: record[keyPath: field]) else { continue }
            let short = cut(text.utf8, to: longest)
            record[keyPath: field] = TextRange(offset: UInt32(bytes.count), count: UInt32(short.count))
            bytes.append(contentsOf: short)
        }
        return Event(storage: bytes, record: record, stream: cut(event.stream, to: longest))
    }

    private static func cut(_ utf8: [UInt8], to longest: Int) -> [UInt8] {
        utf8.count <= longest ? utf8 : Array(cut(String(decoding: utf8, as: UTF8.self), to: longest).utf8)
    }

    /// Returns as many whole graphemes of `text` as fit with an ellipsis into `longest` bytes.
    private static func cut(_ text: String, to longest: Int) -> String {
        guard text.utf8.count > longest else { return text }
        let ellipsis = "…"
        var count = ellipsis.utf8.count
        var end = text.startIndex
        while end < text.endIndex {
            let next = text.index(after: end)
            count += text.utf8.distance(from: end, to: next)
            guard count <= longest else { break }
            end = next
        }
        return text[..<end] + ellipsis
    }
}
