internal import GLibRuntime
internal import RelayCore
internal import RelayRules
internal import RelaySinks

/// A try for people: at each moment what happened, what the rules made of it, and what each sink gets.
@MainLoop
final class TrialText: TrialReport {
    private let rules: RuleSet
    private let names: TrialNames
    private let output: OutputBlock
    private let times: ZonedTime
    private let style: TextLine.Style
    /// The moment whose line stands last.
    private var moment: Instant?
    /// Why each rule matches, as far as it has: the trace of every event would cost more than the try.
    private var reasons: [Int: String] = [:]

    /// The most bytes of an event's text that are shown.
    private static let longestText = 120

    /// Creates a report that is written to `output`.
    init(_ rules: RuleSet, _ names: TrialNames, output: OutputBlock, times: ZonedTime, style: TextLine.Style) {
        self.rules = rules
        self.names = names
        self.output = output
        self.times = times
        self.style = style
    }

    func decided(_ event: Event, _ outcomes: [EffectOutcome], at instant: Instant) {
        let shown = outcomes.filter { names.shows(names.sink($0.effect)) }
        guard !shown.isEmpty else { return }
        begin(event, at: instant)
        for outcome in shown {
            write("  ")
            append(outcome, of: event, at: instant)
            write("\n")
        }
        output.writeIfLarge()
    }

    func repeated(_ event: Event, at instant: Instant) {
        guard names.shows("-") else { return }
        begin(event, at: instant)
        write("  passed over: an event with this id came before\n")
        output.writeIfLarge()
    }

    func delivered(_ delivery: Delivery, at instant: Instant) {
        guard names.shows(delivery.sink) else { return }
        begin(at: instant)
        write("  => ")
        styled("1") {
            append(delivery.sink)
            write(": ")
            append(delivery.notice.title)
        }
        append(description(of: delivery.content))
        if !delivery.notice.link.isEmpty {
            write("  ")
            append(delivery.notice.link)
        }
        write("\n")
        for line in delivery.notice.body.utf8.split(separator: UInt8(ascii: "\n")) {
            write("     | ")
            append(UntrustedText(utf8: Array(line)))
            write("\n")
        }
        output.writeIfLarge()
    }

    func limited(_ count: ReceiptCount, at instant: Instant) {
        guard names.shows(count.sink) else { return }
        begin(at: instant)
        write("  ")
        append(count.rule)
        write(" -> ")
        append(count.sink)
        append(": a digest of \(count.count) ends limited, as the limit is used up")
        write("\n")
        output.writeIfLarge()
    }

    // MARK: Moments

    /// Begins the lines of an event.
    private func begin(_ event: Event, at instant: Instant) {
        moment = instant
        styled("2") { times.append(instant, to: &output.bytes) }
        write("  ")
        append(event.record.kind, of: event)
        if event.record.actor.isPresent {
            write(" by ")
            append(event.record.actor, of: event)
        }
        if event.record.post.isPresent {
            write(" on ")
            append(event.record.post, of: event)
        }
        if event.record.text.isPresent {
            write(": ")
            append(event.record.text, of: event)
        }
        write("  (")
        append(event.record.id, of: event)
        write(")\n")
    }

    /// Begins the lines of a moment in which time alone made something happen.
    private func begin(at instant: Instant) {
        guard moment != instant else { return }
        moment = instant
        styled("2") { times.append(instant, to: &output.bytes) }
        write("  time passes\n")
    }

    private func append(_ outcome: EffectOutcome, of event: Event, at instant: Instant) {
        let effect = outcome.effect
        guard effect.rule != Effect.nobody else { return write("no rule matches: unmatched") }
        append(names.rule(effect))
        styled("2") { append(reason(for: effect.rule, event, at: instant)) }
        if effect.sink != Effect.nobody {
            write(" -> ")
            append(names.sink(effect))
        }
        write(": ")
        append(TrialWords.sentence(outcome.acceptance, names.policies[effect.rule], times))
    }

    /// Returns the conditions of a rule that matched an event, in parentheses; nothing if it has none.
    private func reason(for rule: Int, _ event: Event, at instant: Instant) -> String {
        if let reason = reasons[rule] { return reason }
        let steps = rules.explain(event, at: instant).steps
        for (number, step) in steps.enumerated() where step.isReached && step.holds {
            reasons[number] = step.condition.map { " (\(TraceText.reason($0)))" } ?? ""
        }
        return reasons[rule] ?? ""
    }

    private func description(of content: Delivery.Content) -> String {
        switch content {
        case .event: ""
        case .digest(let summary): "  (digest of \(summary.count))"
        case .briefing(let summary): "  (briefing of \(summary.count))"
        }
    }

    // MARK: Texts

    private func append(_ text: String) {
        append(UntrustedText(text))
    }

    private func write(_ text: StaticString) {
        text.withUTF8Buffer { output.bytes.append(contentsOf: $0) }
    }

    /// Appends a text with what a terminal would obey made visible.
    private func append(_ text: UntrustedText) {
        if JSONText.isPlain(text.utf8.span.bytes) {
            output.bytes.append(contentsOf: text.utf8)
        } else {
            output.bytes.append(contentsOf: Shown.printable(text.string).utf8)
        }
    }

    private func append(_ range: TextRange, of event: Event) {
        guard let text = event.text(of: range) else { return }
        guard text.utf8.count > Self.longestText else { return append(text) }
        append(UntrustedText(String(text.string.prefix(Self.longestText / 2)) + "…"))
    }

    private func styled(_ code: StaticString, _ body: () -> Void) {
        guard style == .colour else { return body() }
        write("\u{1b}[")
        write(code)
        write("m")
        body()
        write("\u{1b}[0m")
    }
}
