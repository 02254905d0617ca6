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
}
