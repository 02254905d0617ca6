package import RelayCore

/// One rule of the file: what it is called and what to do. When it matches is known to the rule set alone.
package struct Rule: Sendable {
    /// The name, unique in the file.
    package let name: String
    /// Whether a match ends in nothing but a receipt.
    package let isDrop: Bool
    /// Whether the rules after it are asked too.
    package let isContinued: Bool
    /// The places of its sinks in the rule set's list of sinks.
    package let sinks: [Int]
    /// The text of the title, or nil for the usual wording.
    package let title: Template?
    /// The text of the body, or nil for the text of the event.
    package let body: Template?
    /// The link, or nil for that of the event or its stream.
    package let link: LinkTemplate?
    /// How much its notices press.
    package let urgency: Urgency
}
