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
        appendEvent(event.record, event.storage, to: &bytes)
        TimestampText.append(event.record.createdAt, to: &bytes)
        appendNotice(
            stream: event.stream, rule: notice.rule, title: notice.title.utf8, body: notice.body.utf8,
            link: notice.link.utf8, to: &bytes)
        appendDecimal(notice.suppressed.magnitude, to: &bytes)
        if let sink {
            bytes.append(contentsOf: #","sink":""#.utf8)
            JSONText.append(sink, to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Appends everything up to the time.
    ///
    /// Storage and record are apart here and below, as a span of a part of a struct would copy all of it.
    private static func appendEvent(_ record: EventRecord, _ storage: [UInt8], to bytes: inout [UInt8]) {
        let storage = storage.span.bytes
        let id = storage.extracting(place(of: record.id))
        let kind = storage.extracting(place(of: record.kind))
        let actor = storage.extracting(place(of: record.actor))
        let post = storage.extracting(place(of: record.post))
        let isPlain =
            JSONText.isPlain(id) && JSONText.isPlain(kind) && JSONText.isPlain(actor) && JSONText.isPlain(post)
        let texts = id.byteCount + kind.byteCount + actor.byteCount + post.byteCount
        // Keys and punctuation take less than 100 bytes here.
        bytes.append(addingCapacity: (isPlain ? texts : texts * JSONText.mostBytesPerByte) + 100) { output in
            output.append(copying: #"{"type":"event","id":""#)
            write(id, isPlain, to: &output)
            output.append(copying: #"","kind":""#)
            write(kind, isPlain, to: &output)
            output.append(copying: #"","actor":"#)
            writeValue(actor, isPlain, isPresent: record.actor.isPresent, to: &output)
            output.append(copying: #","post":"#)
            writeValue(post, isPlain, isPresent: record.post.isPresent, to: &output)
            output.append(copying: #","createdAt":""#)
        }
    }

    /// Appends what follows the time, up to the number.
    private static func appendNotice(
        stream: String, rule: String, title: [UInt8], body: [UInt8], link: [UInt8], to bytes: inout [UInt8]
    ) {
        let stream = stream.utf8Span.span.bytes
        let rule = rule.utf8Span.span.bytes
        let title = title.span.bytes
        let body = body.span.bytes
        let link = link.span.bytes
        let isPlain =
            JSONText.isPlain(stream) && JSONText.isPlain(rule) && JSONText.isPlain(title)
            && JSONText.isPlain(body) && JSONText.isPlain(link)
        let texts = stream.byteCount + rule.byteCount + title.byteCount + body.byteCount + link.byteCount
        // Keys and punctuation take less than 100 bytes here.
        bytes.append(addingCapacity: (isPlain ? texts : texts * JSONText.mostBytesPerByte) + 100) { output in
            output.append(copying: #"","stream":""#)
            write(stream, isPlain, to: &output)
            output.append(copying: #"","rule":""#)
            write(rule, isPlain, to: &output)
            output.append(copying: #"","title":""#)
            write(title, isPlain, to: &output)
            output.append(copying: #"","body":""#)
            write(body, isPlain, to: &output)
            output.append(copying: #"","link":"#)
            writeValue(link, isPlain, isPresent: !link.isEmpty, to: &output)
            output.append(copying: #","suppressed":"#)
        }
    }

    private static func place(of range: TextRange) -> Range<Int> {
        let start = range.isPresent ? Int(range.offset) : 0
        return start..<(start + Int(range.count))
    }

    /// Writes the inside of a string, which is copied if no text of this part needs escaping.
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

    private static func appendDecimal(_ number: UInt, to bytes: inout [UInt8]) {
        var divisor: UInt = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }
}
