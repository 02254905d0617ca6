internal import GLibRuntime
package import RelayCore

extension RuleSet: NoticeRenderer {
    package func notice(rule: Int, for event: Event, suppressed: Int) -> Notice {
        var notice = Notice()
        render(Effect(rule: rule, sink: Effect.nobody, action: .deliver), event, into: &notice)
        notice.suppressed = suppressed
        return notice
    }

    package func notice(rule: Int, for digest: Gathering, suppressed: Int) -> Notice {
        Notice(rule: rules[rule].name, suppressed: suppressed)
    }

    package func briefing(time: String, of gathering: Gathering) -> Notice {
        Notice(title: UntrustedText(time))
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
        notice.urgency = number.map { rules[$0].urgency } ?? .normal
        if let template = number.flatMap({ rules[$0].title }) {
            Wording.append(template, event, as: .line, to: &notice.title.utf8)
        }
        // A popup without a title is refused by some desktops.
        if notice.title.isEmpty { Wording.appendTitle(event, to: &notice.title.utf8) }
        if let template = number.flatMap({ rules[$0].body }) {
            Wording.append(template, event, as: .block, to: &notice.body.utf8)
        } else if event.record.text.isPresent {
            event.withBytes(of: event.record.text) { TextCleaning.append($0, to: &notice.body.utf8, as: .block) }
        }
        appendLink(of: number, event, to: &notice.link.utf8)
    }

    /// What the journal needs to know of the rules.
    package var plan: EffectPlan {
        EffectPlan(
            policies: rules.map { EffectPolicy(rule: $0.name) }, sinkNames: sinkNames, times: [:], renderer: self)
    }

    private func appendLink(of number: Int?, _ event: Event, to bytes: inout [UInt8]) {
        if let link = number.flatMap({ rules[$0].link }), link.append(for: event, to: &bytes) { return }
        if event.record.link.isPresent,
            event.withBytes(of: event.record.link, { WebLink.append($0, to: &bytes) })
        {
            return
        }
        if !streamLinks.isEmpty { streamLinks[event.stream]?.append(for: event, to: &bytes) }
    }
}

/// The words of notices.
enum Wording {
    /// The placeholders of titles and bodies.
    static let placeholders: [Placeholder] = [.id, .actor, .kind, .post, .text, .createdAt, .stream]

    /// Appends a template filled from an event.
    static func append(
        _ template: Template, _ event: Event, as layout: TextCleaning.Layout, to bytes: inout [UInt8]
    ) {
        template.render(into: &bytes) { placeholder, bytes in
            switch placeholder {
            case .id: append(event.record.id, of: event, as: .line, to: &bytes)
            case .actor: appendActor(of: event, to: &bytes)
            case .kind: append(event.record.kind, of: event, as: .line, to: &bytes)
            case .post: append(event.record.post, of: event, as: .line, to: &bytes)
            case .text: append(event.record.text, of: event, as: layout, to: &bytes)
            case .createdAt:
                let time = LocalTime.dateAndMinute(ofMilliseconds: event.record.createdAt.milliseconds)
                bytes.append(contentsOf: time.utf8)
            case .stream: TextCleaning.append(event.stream.utf8.span.bytes, to: &bytes)
            case .title, .body, .link, .rule, .sink, .key: break
            }
        }
    }

    /// Appends the usual title: `ann liked your post`.
    static func appendTitle(_ event: Event, to bytes: inout [UInt8]) {
        appendActor(of: event, to: &bytes)
        switch shortKind(of: event) {
        case Self.like: append(" liked your post", to: &bytes)
        case Self.comment: append(" commented on your post", to: &bytes)
        case Self.follow: append(" followed you", to: &bytes)
        default:
            append(": ", to: &bytes)
            append(event.record.kind, of: event, as: .line, to: &bytes)
        }
    }

    // The kinds with words of their own, as `word` gives them.
    private static var like: UInt64 { 0x6C_696B_65 }
    private static var comment: UInt64 { 0x63_6F6D_6D65_6E74 }
    private static var follow: UInt64 { 0x666F_6C6C_6F77 }

    /// Returns a kind of up to eight bytes as one word, which compares faster; a longer one is 0.
    private static func shortKind(of event: Event) -> UInt64 {
        event.record.kind.count <= 8 ? event.withBytes(of: event.record.kind, word) : 0
    }

    private static func word(_ text: RawSpan) -> UInt64 {
        var word: UInt64 = 0
        for index in 0..<text.byteCount {
            word = word << 8 | UInt64(text.unsafeLoad(fromByteOffset: index, as: UInt8.self))
        }
        return word
    }

    /// Appends the actor, or `someone` if there is none or nothing of the name can be seen.
    private static func appendActor(of event: Event, to bytes: inout [UInt8]) {
        let before = bytes.count
        append(event.record.actor, of: event, as: .line, to: &bytes)
        if bytes.count == before { append("someone", to: &bytes) }
    }

    private static func append(
        _ range: TextRange, of event: Event, as layout: TextCleaning.Layout, to bytes: inout [UInt8]
    ) {
        guard range.isPresent else { return }
        event.withBytes(of: range) { TextCleaning.append($0, to: &bytes, as: layout) }
    }

    private static func append(_ text: StaticString, to bytes: inout [UInt8]) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }
}
