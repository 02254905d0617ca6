internal import RelayCore

/// Makes the body of a webhook from a delivery: the same bytes for every attempt.
enum WebhookBody {
    /// The largest body.
    static let maxBytes = 64 * 1024
    /// Room for most bodies, so that they need not grow.
    private static let usualBytes = 512

    /// Returns the body; texts that make it too large are cut on the border of a grapheme, with an ellipsis.
    static func bytes(of delivery: Delivery, _ template: JSONTemplate?) -> [UInt8] {
        var body = render(delivery, template)
        var longest = maxBytes / 2
        // The texts are cut before they are encoded, so never within an escape. 64 bytes always fit, as the limits of
        // `JSONTemplate` see to.
        while body.count > maxBytes, longest >= 64 {
            body = render(shortened(delivery, to: longest), template, longest: longest)
            longest /= 2
        }
        return body
    }

    private static func render(_ delivery: Delivery, _ template: JSONTemplate?, longest: Int = .max) -> [UInt8] {
        guard let template else {
            var line: [UInt8] = []
            line.reserveCapacity(usualBytes)
            NoticeLine.append(delivery, sink: delivery.sink, to: &line)
            return line
        }
        return template.rendered { text(of: $0, in: delivery).map { cut($0, to: longest) } }
    }

    /// What a part that is no literal stands for, or nil if there is no such thing.
    private static func text(of part: Template.Part, in delivery: Delivery) -> [UInt8]? {
        switch part {
        case .literal(let text): return text
        case .field(let pointer):
            guard case .event(let event) = delivery.content else { return nil }
            return event.text(of: pointer)?.utf8
        case .placeholder(let placeholder): return text(of: placeholder, in: delivery)
        }
    }

    private static func text(of placeholder: Placeholder, in delivery: Delivery) -> [UInt8]? {
        switch placeholder {
        case .title: return delivery.notice.title.utf8
        case .body: return delivery.notice.body.utf8
        case .link: return delivery.notice.link.isEmpty ? nil : delivery.notice.link.utf8
        case .rule: return Array(delivery.notice.rule.utf8)
        case .sink: return Array(delivery.sink.utf8)
        case .key: return Array(delivery.key.utf8)
        case .id, .actor, .kind, .post, .text, .createdAt, .stream, .count, .actors, .posts, .first, .last:
            switch delivery.content {
            case .event(let event): return text(of: placeholder, in: event)
            case .digest(let summary), .briefing(let summary): return text(of: placeholder, in: summary)
            }
        }
    }

    private static func text(of placeholder: Placeholder, in event: Event) -> [UInt8]? {
        let record = event.record
        func field(_ range: TextRange) -> [UInt8]? { event.text(of: range)?.utf8 }
        switch placeholder {
        case .id: return field(record.id)
        case .actor, .actors: return field(record.actor)
        case .kind: return field(record.kind)
        case .post, .posts: return field(record.post)
        case .text: return field(record.text)
        case .createdAt, .first, .last: return Array(TimestampText.format(record.createdAt).utf8)
        case .stream: return Array(event.stream.utf8)
        case .count: return [UInt8(ascii: "1")]
        case .title, .body, .link, .rule, .sink, .key: return nil
        }
    }

    /// Of a digest, an actor or a post can be given only if there is one in all.
    private static func text(of placeholder: Placeholder, in summary: Summary) -> [UInt8]? {
        switch placeholder {
        case .count: return Array(String(summary.count).utf8)
        case .actors: return list(summary.actors)
        case .posts: return list(summary.posts)
        case .actor: return summary.actors.count == 1 ? summary.actors[0].utf8 : nil
        case .post: return summary.posts.count == 1 ? summary.posts[0].utf8 : nil
        case .first: return Array(TimestampText.format(summary.first).utf8)
        case .last: return Array(TimestampText.format(summary.last).utf8)
        case .id, .kind, .text, .createdAt, .stream, .title, .body, .link, .rule, .sink, .key: return nil
        }
    }

    private static func list(_ names: [UntrustedText]) -> [UInt8]? {
        guard !names.isEmpty else { return nil }
        var bytes: [UInt8] = []
        // A summary lists no more, so there may be others.
        let isMinimum = names.count == Summary.mostListed
        NameList.append(names.count, isMinimum: isMinimum, to: &bytes) { $1.append(contentsOf: names[$0].utf8) }
        return bytes
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
        switch delivery.content {
        case .event(let event): copy.content = .event(shortened(event, to: longest))
        case .digest(let summary): copy.content = .digest(shortened(summary, to: longest))
        case .briefing(let summary): copy.content = .briefing(shortened(summary, to: longest))
        }
        return copy
    }

    /// Cuts the texts, those of the lists shorter, as a list is made of several.
    private static func shortened(_ summary: Summary, to longest: Int) -> Summary {
        func short(_ texts: [UntrustedText]) -> [UntrustedText] {
            texts.map { UntrustedText(utf8: cut($0.utf8, to: min(longest / 4, 256))) }
        }
        var copy = summary
        copy.key = UntrustedText(utf8: cut(summary.key.utf8, to: longest))
        copy.events = short(summary.events)
        copy.actors = short(summary.actors)
        copy.posts = short(summary.posts)
        return copy
    }

    private static func shortened(_ event: Event, to longest: Int) -> Event {
        var bytes: [UInt8] = []
        var record = event.record
        record.link = .absent
        // What is taken of it is cut when it is taken.
        if let raw = event.text(of: record.raw) {
            record.raw = TextRange(offset: 0, count: UInt32(raw.utf8.count))
            bytes = raw.utf8
        }
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
