import RelayCore

@testable import RelayRules

/// The text of a file with such rules, and with the sinks and streams that `load` knows.
func file(rules: String, lists: String = "{}") -> String { "{\"lists\": \(lists), \"rules\": [\(rules)]}" }

/// Loads rules as the program does; sinks are `desktop`, `team` and `log`, the stream is `chirp`.
func load(
    _ text: String, streamLinks: [String: LinkTemplate] = [:], lints: Bool = false
) -> (rules: RuleSet?, lines: [String]) {
    let problems = Problems()
    guard let node = ConfigurationParser.parse(Array(text.utf8), problems: problems),
        var root = ObjectReader(node, problems)
    else { return (nil, problems.sorted.map { $0.line(file: "r") }) }
    let rules = RuleSetReader.read(
        root: &root, sinkNames: ["desktop", "team", "log"], streamNames: ["chirp"], streamLinks: streamLinks,
        lints: lints, problems: problems)
    root.finish(notYet: ["status"])
    return (rules, problems.sorted.map { $0.line(file: "r") })
}

/// An event with the given fields.
func event(
    kind: String = "like", actor: String? = "ann", post: String? = nil, text: String? = nil, link: String? = nil,
    stream: String = "chirp", raw: String? = nil, at createdAt: Int64 = 1_893_553_445_000
) -> Event {
    var storage = Array("padding|id-1".utf8)
    func add(_ text: String?) -> TextRange {
        guard let text else { return .absent }
        let range = TextRange(offset: UInt32(storage.count), count: UInt32(text.utf8.count))
        storage += Array(text.utf8)
        return range
    }
    var record = EventRecord(
        identity: EventID(high: 1, low: 2), createdAt: Instant(milliseconds: createdAt),
        id: TextRange(offset: 8, count: 4), kind: add(kind))
    record.actor = add(actor)
    record.post = add(post)
    record.text = add(text)
    record.link = add(link)
    record.raw = add(raw)
    return Event(storage: storage, record: record, stream: stream)
}

extension RuleSet {
    /// The effects of an event in words: `rule>sink`, `rule>dropped`, `unmatched`.
    func outcome(_ event: Event, at wall: Instant = Instant(milliseconds: 1_893_553_445_000)) -> String {
        var effects = [Effect(rule: 7, sink: 0, action: .deliver)]
        decide(event, at: wall, into: &effects)
        return effects.dropFirst().map { effect in
            switch effect.action {
            case .deliver: "\(rules[effect.rule].name)>\(sinkNames[effect.sink])"
            case .suppress(.dropped): "\(rules[effect.rule].name)>dropped"
            case .suppress(let receipt): receipt.rawValue
            }
        }.joined(separator: " ")
    }

    /// The notice that a rule makes of an event.
    func notice(_ event: Event, rule: Int = 0) -> Notice {
        var notice = Notice(title: UntrustedText("old"), body: UntrustedText("old"), link: UntrustedText("old"))
        render(Effect(rule: rule, sink: 0, action: .deliver), event, into: &notice)
        return notice
    }
}

/// A small random generator with a seed (Steele, Lea and Flood, 2014).
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
