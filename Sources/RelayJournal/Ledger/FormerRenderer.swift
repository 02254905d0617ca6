internal import RelayCore

/// Renders the notices of a plan of which only the policies are left, by the wording of the plan that came after it.
struct FormerRenderer: NoticeRenderer {
    private let renderer: any NoticeRenderer
    /// The names of the former rules, by their places.
    private let rules: [String]
    /// The places of the rules that came after by name.
    private let places: [String: Int]

    /// Creates a renderer for former rules, by the one of a plan.
    init(of former: [EffectPolicy], by plan: EffectPlan) {
        renderer = plan.renderer
        rules = former.map(\.rule)
        places = plan.places
    }

    func notice(rule: Int, for event: Event, suppressed: Int) -> Notice {
        named(rule, renderer.notice(rule: place(of: rule), for: event, suppressed: suppressed))
    }

    func notice(rule: Int, for digest: Gathering, suppressed: Int) -> Notice {
        named(rule, renderer.notice(rule: place(of: rule), for: digest, suppressed: suppressed))
    }

    func briefing(time: String, of gathering: Gathering) -> Notice {
        renderer.briefing(time: time, of: gathering)
    }

    private func place(of rule: Int) -> Int {
        rules.indices.contains(rule) ? places[rules[rule]] ?? Effect.nobody : Effect.nobody
    }

    /// A rule that is gone is still named.
    private func named(_ rule: Int, _ notice: Notice) -> Notice {
        var notice = notice
        if rules.indices.contains(rule) { notice.rule = rules[rule] }
        return notice
    }
}

extension EffectPlan {
    /// The places of the rules by name.
    var places: [String: Int] { Dictionary(policies.enumerated().map { ($1.rule, $0) }) { first, _ in first } }
}
