internal import RelayCore

/// The JSON object that tells of a digest or a briefing.
enum SummaryLine {
    /// Appends the object, without a newline; keys, order and `sink` are as in `NoticeLine`.
    static func append(
        _ notice: Notice, _ summary: Summary, _ type: String, sink: String?, to bytes: inout [UInt8]
    ) {
        bytes.append(contentsOf: #"{"type":"\#(type)","key":"#.utf8)
        append(summary.key, to: &bytes)
        bytes.append(contentsOf: #","rule":"#.utf8)
        append(UntrustedText(notice.rule), to: &bytes)
        bytes.append(contentsOf: #","count":\#(summary.count)"#.utf8)
        append(summary.events, as: "events", to: &bytes)
        append(summary.actors, as: "actors", to: &bytes)
        append(summary.posts, as: "posts", to: &bytes)
        bytes.append(contentsOf: #","first":"\#(TimestampText.format(summary.first))""#.utf8)
        bytes.append(contentsOf: #","last":"\#(TimestampText.format(summary.last))","title":"#.utf8)
        append(notice.title, to: &bytes)
        bytes.append(contentsOf: #","body":"#.utf8)
        append(notice.body, to: &bytes)
        bytes.append(contentsOf: #","link":"#.utf8)
        if notice.link.isEmpty { bytes.append(contentsOf: "null".utf8) } else { append(notice.link, to: &bytes) }
        bytes.append(contentsOf: #","suppressed":\#(notice.suppressed)"#.utf8)
        if let sink {
            bytes.append(contentsOf: #","sink":"#.utf8)
            append(UntrustedText(sink), to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func append(_ texts: [UntrustedText], as key: String, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: #","\#(key)":["#.utf8)
        for (index, text) in texts.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(text, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private static func append(_ text: UntrustedText, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        JSONText.append(text.utf8, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }
}
