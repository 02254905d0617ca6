internal import GLibRuntime
internal import RelayCore
internal import RelayRules

/// Decides the events of a stream and hands on their effects.
///
/// A struct, which a read changes once for all its events: the fields of an object are checked for conflicting accesses
/// each time.
@MainLoop
struct Decisions {
    private let rules: RuleSet
    private let outlets: [EventFlow.Outlet]
    private let accepter: Accepter
    /// The lines of standard output, if a sink has it.
    private var lines: StdoutLines?
    /// Whether the outlet of a sink is these lines: looking at the outlet itself counts references to it.
    private let isLines: [Bool]
    private var effects: [Effect] = []
    private var notice = Notice()
    /// Receipts so far, in the order of `Receipt.allCases`.
    private var counts = [Int](repeating: 0, count: Receipt.allCases.count)

    /// Creates the decisions of one stream, with an outlet for each sink of `rules`.
    init(rules: RuleSet, outlets: [EventFlow.Outlet], accepter: Accepter) {
        self.rules = rules
        self.outlets = outlets
        self.accepter = accepter
        for outlet in outlets {
            if case .lines(let lines) = outlet { self.lines = lines }
        }
        isLines = outlets.map { if case .lines = $0 { true } else { false } }
    }

    /// Receipts by what they say.
    var receipts: [Receipt: Int] {
        Dictionary(uniqueKeysWithValues: zip(Receipt.allCases, counts).filter { $0.1 > 0 })
    }

    /// How often a regular expression of each rule gave up; empty if none ever did.
    var patternOverruns: [(rule: String, count: Int)] {
        let counts = rules.patternOverruns
        guard counts.contains(where: { $0 > 0 }) else { return [] }
        return zip(rules.rules, counts).map { ($0.name, $1) }
    }

    /// Decides all events of a batch.
    mutating func take(_ batch: borrowing EventBatch) {
        guard var event = batch.records.isEmpty ? nil : batch[0] else { return }
        for record in batch.records {
            // The same event with other places: a new one would count references to the storage.
            event.record = record
            take(event)
        }
    }

    /// Hands on the lines of standard output.
    mutating func flush() {
        lines?.flush()
    }

    private mutating func take(_ event: borrowing Event) {
        // Mostly there is one; emptying an array at once is a call.
        while effects.popLast() != nil {}
        rules.decide(event, into: &effects)
        var kept: [Effect] = []
        for effect in effects {
            if case .suppress(let receipt) = effect.action {
                counts[receipt.place] += 1
                continue
            }
            if isLines[effect.sink] {
                rules.render(effect, event, into: &notice)
                lines?.append(notice, event)
            } else {
                kept.append(effect)
            }
        }
        if !kept.isEmpty { accepter.add(Intake(event: event.compacted(), effects: kept)) }
    }
}

extension Receipt {
    /// The place in `allCases`.
    fileprivate var place: Int {
        switch self {
        case .dropped: 0
        case .limited: 1
        case .duplicate: 2
        case .silenced: 3
        case .unmatched: 4
        }
    }
}
