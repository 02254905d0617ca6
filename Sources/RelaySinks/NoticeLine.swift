package import RelayCore

/// The JSON object that tells of one notice: a line of `stdout`, the body of a webhook.
package enum NoticeLine {
    /// Appends the object of a delivery, without a newline.
    package static func append(_ delivery: Delivery, sink: String? = nil, to bytes: inout [UInt8]) {
        switch delivery.content {
        case .event(let event): append(delivery.notice, event, sink: sink, to: &bytes)
        case .digest(let summary): SummaryLine.append(delivery.notice, summary, "digest", sink: sink, to: &bytes)
        case .briefing(let summary): SummaryLine.append(delivery.notice, summary, "briefing", sink: sink, to: &bytes)
        }
    }

    /// Appends the object, without a newline.
    ///
    /// The keys are always the same and in the same order; `post` and `link` are null where there is none.
    /// The bytes depend on the arguments only. With `sink`, that name becomes a last member, for webhooks.
    package static func append(_ notice: Notice, _ event: Event, sink: String? = nil, to bytes: inout [UInt8]) {
        var writer = NoticeLineWriter()
        writer.append(notice, event, end: sink == nil ? "}" : ",", to: &bytes)
        if let sink {
            bytes.append(contentsOf: #""sink":""#.utf8)
            JSONText.append(sink, to: &bytes)
            bytes.append(contentsOf: #""}"#.utf8)
        }
    }
}

/// Writes lines one after another, and remembers what the next one is likely to have in common with the last.
package struct NoticeLineWriter: Sendable {
    private var times = TimestampWriter()
    private var stream = ""
    private var rule = ""
    /// What stands between the time and the title of lines of that stream and rule.
    private var middle: [UInt8] = []

    /// Creates a writer.
    package init() {}

    /// Appends the object of a notice, and a newline.
    package mutating func appendLine(_ notice: Notice, _ event: Event, to bytes: inout [UInt8]) {
        append(notice, event, end: "}\n", to: &bytes)
    }

    /// Appends the object of a notice, with `end`, which is short, in place of its last brace.
    fileprivate mutating func append(
        _ notice: Notice, _ event: Event, end: StaticString, to bytes: inout [UInt8]
    ) {
        if middle.isEmpty || stream != event.stream || rule != notice.rule { remember(event.stream, notice.rule) }
        append(
            event.record, event.storage, notice.title.utf8, notice.body.utf8, notice.link.utf8,
            suppressed: notice.suppressed.magnitude, end: end, to: &bytes)
    }

    /// Appends the object; its texts are apart, as a span of a part of a structure would copy all of it.
    @inline(__always)
    private mutating func append(
        _ record: EventRecord, _ storage: [UInt8], _ title: [UInt8], _ body: [UInt8], _ link: [UInt8],
        suppressed: UInt, end: StaticString, to bytes: inout [UInt8]
    ) {
        let storage = storage.span.bytes
        let id = storage.extracting(Self.place(of: record.id))
        let kind = storage.extracting(Self.place(of: record.kind))
        let actor = storage.extracting(Self.place(of: record.actor))
        let post = storage.extracting(Self.place(of: record.post))
        let (title, body, link) = (title.span.bytes, body.span.bytes, link.span.bytes)
        let isPlain =
            JSONText.isPlain(id) && JSONText.isPlain(kind) && JSONText.isPlain(actor) && JSONText.isPlain(post)
            && JSONText.isPlain(title) && JSONText.isPlain(body) && JSONText.isPlain(link)
        let count =
            id.byteCount + kind.byteCount + actor.byteCount + post.byteCount + title.byteCount + body.byteCount
            + link.byteCount
        // Keys, punctuation, time and number take less than 200 bytes.
        let room = (isPlain ? count : count * JSONText.mostBytesPerByte) + middle.count + 200
        bytes.append(addingCapacity: room) { output in
            output.append(copying: #"{"type":"event","id":""#)
            Self.write(id, isPlain, to: &output)
            output.append(copying: #"","kind":""#)
            Self.write(kind, isPlain, to: &output)
            output.append(copying: #"","actor":"#)
            Self.writeValue(actor, isPlain, isPresent: record.actor.isPresent, to: &output)
            output.append(copying: #","post":"#)
            Self.writeValue(post, isPlain, isPresent: record.post.isPresent, to: &output)
            output.append(copying: #","createdAt":""#)
            times.append(record.createdAt, to: &output)
            output.append(copying: middle.span.bytes)
            Self.write(title, isPlain, to: &output)
            output.append(copying: #"","body":""#)
            Self.write(body, isPlain, to: &output)
            output.append(copying: #"","link":"#)
            Self.writeValue(link, isPlain, isPresent: !link.isEmpty, to: &output)
            output.append(copying: #","suppressed":"#)
            Self.write(suppressed, to: &output)
            output.append(copying: end)
        }
    }

    private static func place(of range: TextRange) -> Range<Int> {
        let start = range.isPresent ? Int(range.offset) : 0
        return start..<(start + Int(range.count))
    }

    private mutating func remember(_ stream: String, _ rule: String) {
        (self.stream, self.rule) = (stream, rule)
        middle = Array(#"","stream":""#.utf8)
        JSONText.append(stream, to: &middle)
        middle.append(contentsOf: #"","rule":""#.utf8)
        JSONText.append(rule, to: &middle)
        middle.append(contentsOf: #"","title":""#.utf8)
    }

    /// Writes the inside of a string, which is copied if no text needs escaping.
    @inline(__always)
    private static func write(_ text: RawSpan, _ isPlain: Bool, to output: inout OutputSpan<UInt8>) {
        if isPlain { output.append(copying: text) } else { JSONText.write(text, to: &output) }
    }

    /// Writes a string in quotes, or null.
    @inline(__always)
    private static func writeValue(
        _ text: RawSpan, _ isPlain: Bool, isPresent: Bool, to output: inout OutputSpan<UInt8>
    ) {
        guard isPresent else { return output.append(copying: "null") }
        output.append(UInt8(ascii: "\""))
        write(text, isPlain, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    private static func write(_ number: UInt, to output: inout OutputSpan<UInt8>) {
        var divisor: UInt = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }
}
