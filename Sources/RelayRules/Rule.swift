package import GLibRuntime
package import RelayCore

/// One rule of the file: what it is called and what to do.
///
/// When it matches is known to the rule set alone.
package struct Rule: Sendable {
    /// The name, unique in the file.
    package let name: String
    /// Whether a match ends in nothing but a receipt.
    package let isDrop: Bool
    /// Whether the rules after it are asked too.
    package let isContinued: Bool
    /// The places of its sinks in the rule set's list of sinks.
    package let sinks: [Int]
    /// The words of its notices.
    package let wording: RuleWording
    /// When and how often: `limit`, `digest`, `hold`, `repeat`.
    package let policy: EffectPolicy
    /// The lists of actors that `when` demands, which digests tell first.
    let firstActors: [ValueSet]
}

/// How the notices of a rule read.
package struct RuleWording: Sendable {
    /// How much a notice presses.
    package enum UrgencyChoice: Sendable {
        /// As the file says.
        case fixed(Urgency)
        /// What the text gives; `normal` unless it names an urgency.
        case template(Template)
    }

    /// The text of the title, or nil for the usual wording.
    package var title: Template?
    /// The text of the body, or nil for the text of the event.
    package var body: Template?
    /// The link, or nil for that of the event or its stream.
    package var link: LinkTemplate?
    /// How much its notices press.
    package var urgency = UrgencyChoice.fixed(.normal)
    /// The name or the path of an icon; empty for the sink's own.
    package var icon = ""
    /// The zone in which times are shown; nil for the system's.
    package var zone: Zone?

    /// Whether a text of it needs the event as it came.
    var asksForFields: Bool { templates.contains(where: \.asksForFields) || link?.asksForFields == true }

    /// Whether a text of it tells a local time.
    var tellsTimes: Bool { templates.contains(where: \.tellsTimes) }

    private var templates: [Template] {
        var templates = [title, body].compactMap(\.self)
        if case .template(let template) = urgency { templates.append(template) }
        return templates
    }
}

/// A rule as it was read, with what only loading and explaining need.
struct ReadRule {
    /// The rule.
    var rule: Rule
    /// When it matches; nil for always.
    var when: WrittenCondition?
    /// Where it stands.
    var node: ConfigurationNode
}
