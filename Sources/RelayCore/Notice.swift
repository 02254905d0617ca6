/// How much a notice presses, in the words of the desktop notification specification.
package enum Urgency: String, Sendable, CaseIterable {
    case low, normal, critical
}

/// What a person reads: title, body, link, urgency.
///
/// Rendered once, in the commit that stores its delivery, and frozen.
package struct Notice: Sendable {
    /// The first line.
    ///
    /// Cleaned, not cut and not encoded.
    package var title: UntrustedText
    /// The rest, possibly empty.
    ///
    /// Cleaned, not cut and not encoded.
    package var body: UntrustedText
    /// An http or https link to what it is about; empty if there is none.
    package var link: UntrustedText
    /// How much it presses.
    package var urgency: Urgency
    /// The name or the path of an icon, as the rules file has it; empty for the sink's own.
    package var icon: String
    /// The name of the rule that made it.
    package var rule: String
    /// How many effects of the rule its limit has suppressed since its last notice.
    package var suppressed: Int

    /// Creates a notice.
    package init(
        title: UntrustedText = UntrustedText(), body: UntrustedText = UntrustedText(),
        link: UntrustedText = UntrustedText(), urgency: Urgency = .normal, icon: String = "", rule: String = "",
        suppressed: Int = 0
    ) {
        self.title = title
        self.body = body
        self.link = link
        self.urgency = urgency
        self.icon = icon
        self.rule = rule
        self.suppressed = suppressed
    }

    /// The last line of the body, which tells what was suppressed; nil if nothing was.
    package var suppressedLine: String? { suppressed > 0 ? "and \(suppressed) more" : nil }

    /// Appends the line that tells what was suppressed to the body.
    package mutating func tellSuppressed() {
        guard let line = suppressedLine else { return }
        if !body.isEmpty { body.utf8.append(UInt8(ascii: "\n")) }
        body.utf8.append(contentsOf: line.utf8)
    }

    /// Tells in the body how many effects of the rule found no room in the outbox since its last notice.
    package mutating func tellUnqueued(_ count: Int) {
        body = bodyBeforeSuppressed
        if !body.isEmpty { body.utf8.append(UInt8(ascii: "\n")) }
        body.utf8.append(contentsOf: "and \(count) more that found the outbox full".utf8)
        tellSuppressed()
    }

    /// The body without the line that `tellSuppressed` appended, for a sink that cuts the body or tells it elsewhere.
    package var bodyBeforeSuppressed: UntrustedText {
        guard let line = suppressedLine else { return body }
        if body.utf8.elementsEqual(line.utf8) { return UntrustedText() }
        let tail = Array("\n\(line)".utf8)
        return UntrustedText(
            utf8: body.utf8.suffix(tail.count).elementsEqual(tail) ? Array(body.utf8.dropLast(tail.count)) : body.utf8)
    }
}
