internal import GLibRuntime
internal import RelayCore
internal import RelayJournal
internal import RelayRules

/// Decides the events of a stream by the rules of one file, and hands on their effects.
///
/// A struct, which a read changes once for all its events: the fields of an object are checked for conflicting accesses
/// each time.
@MainLoop
struct Decisions {
    private let rules: RuleSet
    private let isStateful: [Bool]
    /// Whether the history keeps every event.
    private let recordsAll: Bool
    private let accepter: Accepter
    /// The lines of standard output, if a sink has it.
    private var lines: StdoutLines?
    /// Whether the outlet of a sink is these lines: looking at the outlet itself counts references to it.
    private let isLines: [Bool]
    /// The silences that have not ended, for the fast path; the journal has its own.
    var silences = SilenceBook()
    private var effects: [Effect] = []
    /// The effects of one event that are for the journal.
    private var kept: [Effect] = []
    private var notice = Notice()
    /// The last events that are not for the journal; nil if they need not be known.
    private var recent: RecentEvents?
    /// The places of the effects of one event that were silenced.
    private var silencedPlaces: UInt64 = 0

    // Receipts so far; those of each event are counted without a look at a table.
    private var unmatched = 0
    private var dropped: [Int]
    private var silenced: [SilencedPlace: Int] = [:]

    private struct SilencedPlace: Hashable {
        var rule: Int
        var sink: Int
    }

    /// Creates the decisions of one stream.
    init(_ inForce: RulesInForce, accepter: Accepter) {
        rules = inForce.rules
        isStateful = inForce.isStateful
        recordsAll = inForce.recordsAll
        recent = inForce.keepsRecent ? RecentEvents() : nil
        self.accepter = accepter
        dropped = [Int](repeating: 0, count: inForce.isStateful.count)
        for outlet in inForce.outlets {
            if case .lines(let lines) = outlet { self.lines = lines }
        }
        isLines = inForce.outlets.map { if case .lines = $0 { true } else { false } }
    }

    /// Receipts by rule, sink and reason.
    var receipts: [ReceiptCount] {
        var receipts: [ReceiptCount] = []
        func add(_ rule: String, _ sink: String, _ receipt: Receipt, _ count: Int) {
            if count > 0 { receipts.append(ReceiptCount(rule: rule, sink: sink, receipt: receipt, count: count)) }
        }
        add("", "-", .unmatched, unmatched)
        for (rule, count) in zip(rules.rules, dropped) { add(rule.name, "-", .dropped, count) }
        for (place, count) in silenced {
            add(rules.rules[place.rule].name, rules.sinkNames[place.sink], .silenced, count)
        }
        return receipts
    }

    /// How often a regular expression of each rule gave up; empty if none ever did.
    var patternOverruns: [(rule: String, count: Int)] {
        let counts = rules.patternOverruns
        guard counts.contains(where: { $0 > 0 }) else { return [] }
        return zip(rules.rules, counts).map { ($0.name, $1) }
    }

    /// Goes on after the decisions by other rules.
    mutating func follow(_ former: Decisions) {
        silences = former.silences
        guard recent != nil, var recent = former.recent else { return }
        recent.close(by: former.rules)
        self.recent = recent
    }

    /// The events with an id that are not for the journal, of the last ones.
    func recentStories(of id: EventID) -> [HistoryEntry] { recent?.stories(of: id, by: rules) ?? [] }

    /// Decides all events of a batch, at this time of the wall clock.
    mutating func take(_ batch: borrowing EventBatch, at wall: Instant) {
        guard var event = batch.records.isEmpty ? nil : batch[0] else { return }
        silences.removeEnded(at: wall)
        let keepsRecent = recent != nil
        var exceptions = RecentEvents.Exceptions()
        for (place, record) in batch.records.enumerated() {
            // The same event with other places: a new one would count references to the storage.
            event.record = record
            let isRecorded = take(event, at: wall)
            guard keepsRecent else { continue }
            if isRecorded { exceptions.recorded.insert(place) }
            if silencedPlaces != 0 { exceptions.silenced[place] = silencedPlaces }
        }
        recent?.add(batch, except: exceptions, at: wall)
    }

    /// The lines that standard output was ever handed; 0 without it.
    var handedLines: Int { lines?.handedLines ?? 0 }

    /// Hands on the lines of standard output.
    mutating func flush() {
        lines?.flush()
    }

    /// Decides one event; returns whether the journal gets it.
    private mutating func take(_ event: borrowing Event, at wall: Instant) -> Bool {
        silencedPlaces = 0
        // Mostly there is one; emptying an array at once is a call.
        while effects.popLast() != nil {}
        rules.decide(event, at: wall, into: &effects)
        // By index, as a loop over the array counts a reference to it.
        for index in effects.indices {
            let effect = effects[index]
            if case .suppress(let receipt) = effect.action {
                count(receipt, effect)
            } else if isLines[effect.sink], !isStateful[effect.rule] {
                if !silences.isEmpty, isSilenced(effect, event, at: wall) {
                    effects[index].action = .suppress(.silenced)
                    if index < UInt64.bitWidth { silencedPlaces |= 1 << UInt64(index) }
                    continue
                }
                rules.render(effect, event, into: &notice)
                lines?.append(notice, event)
            } else {
                kept.append(effect)
            }
        }
        guard !kept.isEmpty || recordsAll else { return false }
        hand(event)
        return true
    }

    /// Hands an event to the journal, with the effects that only the history keeps.
    private mutating func hand(_ event: borrowing Event) {
        let passed = effects.filter { $0.action != .deliver || isLines[$0.sink] && !isStateful[$0.rule] }
        accepter.add(Intake(event: event.compacted(), effects: kept, passed: passed))
        kept = []
    }

    private mutating func count(_ receipt: Receipt, _ effect: Effect) {
        if receipt == .dropped, dropped.indices.contains(effect.rule) {
            dropped[effect.rule] += 1
        } else {
            unmatched += 1
        }
    }

    private mutating func isSilenced(_ effect: Effect, _ event: borrowing Event, at wall: Instant) -> Bool {
        let (rule, sink) = (rules.rules[effect.rule].name, rules.sinkNames[effect.sink])
        guard silences.covers(copy event, rule: rule, sink: sink, at: wall) else { return false }
        silenced[SilencedPlace(rule: effect.rule, sink: effect.sink), default: 0] += 1
        return true
    }
}
