internal import GLibRuntime
package import RelayCore

extension RuleSet: NoticeRenderer {
    package func notice(rule: Int, for event: Event, suppressed: Int) -> Notice {
        var notice = Notice()
        render(Effect(rule: rule, sink: Effect.nobody, action: .deliver), event, into: &notice)
        notice.suppressed = suppressed
        notice.tellSuppressed()
        return notice
    }

    package func notice(rule: Int, for digest: Gathering, suppressed: Int) -> Notice {
        let rule = rules.indices.contains(rule) ? rules[rule] : nil
        let words = GatheringWords(digest, of: rule)
        var notice = Notice(icon: rule?.wording.icon ?? "", rule: rule?.name ?? "", suppressed: suppressed)
        if let template = rule?.wording.title { words.append(template, as: .line, to: &notice.title.utf8) }
        if notice.title.isEmpty { words.appendTitle(to: &notice.title.utf8) }
        if let template = rule?.wording.body {
            words.append(template, as: .block, to: &notice.body.utf8)
        } else {
            words.appendBody(to: &notice.body.utf8)
        }
        notice.link = commonLink(of: digest)
        notice.urgency = rule.map { words.urgency($0.wording.urgency) } ?? .normal
        notice.tellSuppressed()
        return notice
    }

    package func briefing(time: String, of gathering: Gathering) -> Notice {
        let words = BriefingWords(gathering, rules: rules, places: places)
        var notice = Notice()
        TextCleaning.append(time.utf8.span.bytes, to: &notice.title.utf8)
        notice.title.utf8.append(contentsOf: ": ".utf8)
        words.appendTitle(to: &notice.title.utf8)
        words.appendBody(to: &notice.body.utf8)
        notice.link = commonLink(of: gathering)
        notice.urgency = words.urgency
        if let rule = words.onlyRule {
            notice.rule = rule
            notice.icon = places[rule].map { rules[$0].wording.icon } ?? ""
        }
        return notice
    }

    /// Writes what a person reads about an effect of an event into `notice`, whose memory is used again.
    ///
    /// All text of the event is cleaned. The link is the rule's, else the event's own, else the stream's; a
    /// template whose placeholders the event does not have gives none.
    package func render(_ effect: Effect, _ event: Event, into notice: inout Notice) {
        let number = rules.indices.contains(effect.rule) ? effect.rule : nil
        notice.title.utf8.removeAll(keepingCapacity: true)
        if !notice.body.isEmpty { notice.body.utf8.removeAll(keepingCapacity: true) }
        if !notice.link.isEmpty { notice.link.utf8.removeAll(keepingCapacity: true) }
        notice.suppressed = 0
        notice.rule = number.map { rules[$0].name } ?? ""
        notice.icon = number.map { rules[$0].wording.icon } ?? ""
        notice.urgency = number.map { urgency(of: $0, event) } ?? .normal
        if let template = number.flatMap({ rules[$0].wording.title }) {
            Wording.append(template, event, in: zone(of: number), as: .line, to: &notice.title.utf8)
        }
        // A popup without a title is refused by some desktops.
        if notice.title.isEmpty { Wording.appendTitle(event, to: &notice.title.utf8) }
        if let template = number.flatMap({ rules[$0].wording.body }) {
            Wording.append(template, event, in: zone(of: number), as: .block, to: &notice.body.utf8)
        } else if event.record.text.isPresent {
            event.withBytes(of: event.record.text) { TextCleaning.append($0, to: &notice.body.utf8, as: .block) }
        }
        appendLink(of: number, event, to: &notice.link.utf8)
    }

    /// What the journal needs to know of the rules.
    package var plan: EffectPlan {
        var policies = rules.map(\.policy)
        if streamLinks.values.contains(where: \.asksForFields) {
            for place in policies.indices { policies[place].keepsRaw = true }
        }
        return EffectPlan(policies: policies, sinkNames: sinkNames, times: times, renderer: self)
    }

    private func zone(of number: Int?) -> Zone? { number.flatMap { rules[$0].wording.zone } }

    private func urgency(of number: Int, _ event: Event) -> Urgency {
        switch rules[number].wording.urgency {
        case .fixed(let urgency): return urgency
        case .template(let template):
            var text: [UInt8] = []
            Wording.append(template, event, in: zone(of: number), as: .line, to: &text)
            return Urgency(rawValue: String(decoding: text, as: UTF8.self)) ?? .normal
        }
    }

    private func appendLink(of number: Int?, _ event: Event, to bytes: inout [UInt8]) {
        if let link = number.flatMap({ rules[$0].wording.link }), link.append(for: event, to: &bytes) { return }
        if event.record.link.isPresent,
            event.withBytes(of: event.record.link, { WebLink.append($0, to: &bytes) })
        {
            return
        }
        if !streamLinks.isEmpty { streamLinks[event.stream]?.append(for: event, to: &bytes) }
    }

    /// The link that all events give; empty if they give none or different ones.
    private func commonLink(of gathering: Gathering) -> UntrustedText {
        var common: [UInt8]?
        for item in gathering.items {
            var link: [UInt8] = []
            appendLink(of: places[item.rule], item.event, to: &link)
            if link.isEmpty || link != common ?? link { return UntrustedText() }
            common = link
        }
        return UntrustedText(utf8: common ?? [])
    }
}
