package import RelayCore

/// The JSON object that tells of one notice of one event: a line of `stdout`, the body of a webhook.
package enum NoticeLine {
    /// Appends the object, without a newline.
    ///
    /// The keys are always the same and in the same order; `post` and `link` are null where there is none.
    /// The bytes depend on the arguments only.
    /// - Parameter sink: the name that goes into a last member `sink`, for webhooks.
    package static func append(_ notice: Notice, _ event: Event, sink: String? = nil, to bytes: inout [UInt8]) {
        appendEvent(event, to: &bytes)
        TimestampText.append(event.record.createdAt, to: &bytes)
        appendNotice(notice, stream: event.stream, sink: sink, to: &bytes)
    }

    /// Appends everything up to the time.
    private static func appendEvent(_ event: Event, to bytes: inout [UInt8]) {
        let storage = event.storage.span.bytes
        let id = storage.extracting(place(of: event.record.id))
        let kind = storage.extracting(place(of: event.record.kind))
        let actor = storage.extracting(place(of: event.record.actor))
        let post = storage.extracting(place(of: event.record.post))
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
            writeValue(actor, isPlain, isPresent: event.record.actor.isPresent, to: &output)
            output.append(copying: #","post":"#)
            writeValue(post, isPlain, isPresent: event.record.post.isPresent, to: &output)
            output.append(copying: #","createdAt":""#)
        }
    }

    /// Appends everything after the time.
    private static func appendNotice(_ notice: Notice, stream: String, sink: String?, to bytes: inout [UInt8]) {
        let streamText = stream.utf8Span.span.bytes
        let rule = notice.rule.utf8Span.span.bytes
        let title = notice.title.utf8.span.bytes
        let body = notice.body.utf8.span.bytes
        let link = notice.link.utf8.span.bytes
        let isPlain =
            JSONText.isPlain(streamText) && JSONText.isPlain(rule) && JSONText.isPlain(title)
            && JSONText.isPlain(body) && JSONText.isPlain(link)
        let texts = streamText.byteCount + rule.byteCount + title.byteCount + body.byteCount + link.byteCount
        // Keys, punctuation and the number take less than 120 bytes here.
        bytes.append(addingCapacity: (isPlain ? texts : texts * JSONText.mostBytesPerByte) + 120) { output in
            output.append(copying: #"","stream":""#)
            write(streamText, isPlain, to: &output)
            output.append(copying: #"","rule":""#)
            write(rule, isPlain, to: &output)
            output.append(copying: #"","title":""#)
            write(title, isPlain, to: &output)
            output.append(copying: #"","body":""#)
            write(body, isPlain, to: &output)
            output.append(copying: #"","link":"#)
            writeValue(link, isPlain, isPresent: !link.isEmpty, to: &output)
            output.append(copying: #","suppressed":"#)
            write(notice.suppressed.magnitude, to: &output)
        }
        if let sink {
            bytes.append(contentsOf: #","sink":""#.utf8)
            JSONText.append(sink, to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "}"))
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

    /// Writes a number in decimal.
    private static func write(_ number: UInt, to output: inout OutputSpan<UInt8>) {
        var divisor: UInt = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }
}
