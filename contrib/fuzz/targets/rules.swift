import RelayCore
import RelayRules

/// Reads a rules file, and lets its rules decide some events if it is right.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let problems = Problems()
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    let configuration = RelayConfiguration.read(text, problems: problems)
    for problem in problems.sorted {
        demandPrintable(problem.line(file: "rules.json"), "a problem")
        demand(problem.position.line >= 1 && problem.position.column >= 1, "a problem is nowhere")
    }
    guard let configuration else {
        demand(problems.hasErrors, "there are no rules, and no problem tells why")
        return 0
    }
    demand(!problems.hasErrors, "there are rules, with errors")
    demand(!configuration.streams.isEmpty && !configuration.sinks.isEmpty, "a file without streams or sinks")
    demand(configuration.sinks.map(\.name) == configuration.rules.sinkNames, "the sinks are not those of the rules")
    for event in events { check(configuration.rules, event) }
    return 0
}

private func check(_ rules: RuleSet, _ event: Event) {
    var effects: [Effect] = []
    rules.decide(event, at: Instant(milliseconds: 1_893_553_445_000), into: &effects)
    demand(!effects.isEmpty, "an event without effect")
    var notice = Notice()
    for effect in effects {
        let isUnmatched = effect.action == .suppress(.unmatched)
        demand(isUnmatched == (effect.rule == Effect.nobody), "an effect of no rule")
        demand(isUnmatched || rules.rules.indices.contains(effect.rule), "an effect of a rule that is not there")
        demand(
            (effect.action == .deliver) == rules.sinkNames.indices.contains(effect.sink), "an effect of no such sink")
        guard effect.action == .deliver else { continue }
        rules.render(effect, event, into: &notice)
        demand(!notice.title.isEmpty, "a notice without title")
        for text in [notice.title, notice.body, notice.link] { demandText(text.utf8, "a notice") }
        demandPrintable(notice.link.string, "a link")
    }
    let taken = effects.filter { $0.action == .deliver }.map(\.sink)
    demand(Set(taken).count == taken.count, "one event goes twice to a sink")
}

private let events = [
    event(kind: "like", actor: "ann", post: "p1", text: nil),
    event(kind: "comment", actor: "Zoë_bot", post: "p\u{202e}2", text: "is this free money?\n\u{1b}[2J<b>&amp;</b> 😀"),
    event(kind: "", actor: nil, post: nil, text: String(repeating: "a", count: 300) + "!"),
]

private func event(kind: String, actor: String?, post: String?, text: String?) -> Event {
    var storage = Array("id-1".utf8)
    func place(_ text: String?) -> TextRange {
        guard let text else { return .absent }
        defer { storage += Array(text.utf8) }
        return TextRange(offset: UInt32(storage.count), count: UInt32(text.utf8.count))
    }
    var record = EventRecord(
        identity: EventID(high: 1, low: 2), createdAt: Instant(milliseconds: 1_893_553_445_000),
        id: TextRange(offset: 0, count: 4), kind: place(kind))
    record.actor = place(actor)
    record.post = place(post)
    record.text = place(text)
    return Event(storage: storage, record: record, stream: "chirp")
}
