import RelayCore

/// Notices that list all they tell, so that a test can account for every event: `rule/id` a piece.
struct ListingRenderer: NoticeRenderer {
    let policies: [EffectPolicy]

    func notice(rule: Int, for event: Event, suppressed: Int) -> Notice {
        let rule = name(of: rule)
        return Notice(title: UntrustedText("\(rule)/\(Self.id(of: event))"), rule: rule, suppressed: suppressed)
    }

    func notice(rule: Int, for digest: Gathering, suppressed: Int) -> Notice {
        Notice(title: list(digest), rule: name(of: rule), suppressed: suppressed)
    }

    func briefing(time: String, of gathering: Gathering) -> Notice { Notice(title: list(gathering)) }

    private func name(of rule: Int) -> String { policies.indices.contains(rule) ? policies[rule].rule : "" }

    private func list(_ gathering: Gathering) -> UntrustedText {
        UntrustedText(gathering.items.map { "\($0.rule)/\(Self.id(of: $0.event))" }.joined(separator: " "))
    }

    private static func id(of event: Event) -> String { event.text(of: event.record.id)?.string ?? "" }
}
