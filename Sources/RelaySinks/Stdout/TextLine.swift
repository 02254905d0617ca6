internal import GLibRuntime
package import RelayCore

/// A notice as one line for people: `HH:MM  title — body  link`.
package enum TextLine {
    /// Whether terminal sequences of our own are written.
    package enum Style: Sendable {
        case plain, colour

        /// Chooses colour for a terminal that can show it, unless `NO_COLOR` is set in the process's `environment`.
        package static func standard(isTerminal: Bool, environment: [String: String]) -> Style {
            let isWanted = environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
            return isTerminal && isWanted ? .colour : .plain
        }
    }

    /// Appends the line with its newline; control characters of the texts are shown as `\u{..}`.
    ///
    /// The time is the event's, in the system's zone.
    package static func append(_ notice: Notice, _ event: Event, style: Style = .plain, to bytes: inout [UInt8]) {
        append(notice, at: event.record.createdAt, style, to: &bytes)
    }

    /// Appends the line of a delivery; the time of a digest is that of its last event.
    static func append(_ delivery: Delivery, style: Style, to bytes: inout [UInt8]) {
        switch delivery.content {
        case .event(let event): append(delivery.notice, event, style: style, to: &bytes)
        case .digest(let summary), .briefing(let summary):
            append(delivery.notice, at: summary.last, style, to: &bytes)
        }
    }

    private static func append(_ notice: Notice, at time: Instant, _ style: Style, to bytes: inout [UInt8]) {
        append(LocalTime.hourAndMinute(ofMilliseconds: time.milliseconds), "2", style, to: &bytes)
        bytes.append(contentsOf: "  ".utf8)
        append(shown(notice.title), notice.urgency == .critical ? "1;31" : "1", style, to: &bytes)
        if !notice.body.isEmpty {
            bytes.append(contentsOf: " — ".utf8)
            bytes.append(contentsOf: shown(notice.body))
        }
        if notice.suppressed > 0 { bytes.append(contentsOf: " (and \(notice.suppressed) more)".utf8) }
        if !notice.link.isEmpty {
            bytes.append(contentsOf: "  ".utf8)
            append(shown(notice.link), "2", style, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\n"))
    }

    private static func append(
        _ text: some Collection<UInt8>, _ code: String, _ style: Style, to bytes: inout [UInt8]
    ) {
        if style == .colour { bytes.append(contentsOf: "\u{1b}[\(code)m".utf8) }
        bytes.append(contentsOf: text)
        if style == .colour { bytes.append(contentsOf: "\u{1b}[0m".utf8) }
    }

    private static func append(_ text: String, _ code: String, _ style: Style, to bytes: inout [UInt8]) {
        append(text.utf8, code, style, to: &bytes)
    }

    /// The text with what a terminal would obey made visible.
    private static func shown(_ text: UntrustedText) -> [UInt8] {
        if JSONText.isPlain(text.utf8.span.bytes) { return text.utf8 }
        var shown = ""
        for scalar in text.string.unicodeScalars {
            if scalar.value < 0x20 || UInt16(exactly: scalar.value)?.isHiddenControl == true {
                shown += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return Array(shown.utf8)
    }
}
