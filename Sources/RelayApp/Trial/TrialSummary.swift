internal import GLibRuntime
internal import RelayCore

/// What a try counted, per sink and rule.
struct TrialSummary {
    private struct Key: Hashable {
        var rule: Int
        var sink: Int
    }

    private struct Row {
        var effects = 0
        var notices = 0
        var receipts: [Receipt: Int] = [:]
        var outboxFull = 0
    }

    private let names: TrialNames
    private let ruleNumbers: [String: Int]
    private let sinkNumbers: [String: Int]
    private var rows: [Key: Row] = [:]
    private var briefings: [Key: Int] = [:]
    private var briefingNames: [String] = []
    /// Events that were decided.
    private(set) var events = 0
    /// Events whose id had come before.
    private(set) var repeated = 0

    /// Creates an empty summary.
    init(_ names: TrialNames) {
        self.names = names
        ruleNumbers = Dictionary(zip(names.rules, names.rules.indices)) { first, _ in first }
        sinkNumbers = Dictionary(zip(names.sinks, names.sinks.indices)) { first, _ in first }
    }

    /// Counts a decided event.
    mutating func add(_ outcomes: [EffectOutcome]) {
        events += 1
        for outcome in outcomes {
            let key = Key(rule: outcome.effect.rule, sink: outcome.effect.sink)
            rows[key, default: Row()].effects += 1
            switch outcome.acceptance {
            case .suppressed(let receipt): rows[key, default: Row()].receipts[receipt, default: 0] += 1
            case .outboxFull: rows[key, default: Row()].outboxFull += 1
            case .stored, .gathered, .held: break
            }
        }
    }

    /// Counts an event that was passed over.
    mutating func addRepeated() {
        repeated += 1
    }

    /// Counts a delivery.
    mutating func add(_ delivery: Delivery) {
        guard let sink = sinkNumbers[delivery.sink] else { return }
        guard case .briefing(let summary) = delivery.content else {
            if let rule = ruleNumbers[delivery.notice.rule] {
                rows[Key(rule: rule, sink: sink), default: Row()].notices += 1
            }
            return
        }
        let name = Shown.printable(summary.key.string)
        let number = briefingNames.firstIndex(of: name) ?? briefingNames.count
        if number == briefingNames.count { briefingNames.append(name) }
        briefings[Key(rule: number, sink: sink), default: 0] += 1
    }

    /// Counts the effects of digests that found no free slot when they closed.
    mutating func add(_ count: ReceiptCount) {
        guard let rule = ruleNumbers[count.rule], let sink = sinkNumbers[count.sink] else { return }
        rows[Key(rule: rule, sink: sink), default: Row()].receipts[count.receipt, default: 0] += count.count
    }

    /// The lines of a table: sink, rule, effects, notices, receipts.
    func lines() -> [String] {
        let sinks =
            names.sinks.indices.filter { names.shows(names.sinks[$0]) } + (names.shown == nil ? [Effect.nobody] : [])
        var cells = [["sink", "rule", "effects", "notices", "suppressed"]]
        for sink in sinks {
            for rule in Array(names.rules.indices) + [Effect.nobody] {
                if let row = rows[Key(rule: rule, sink: sink)] { cells.append(line(row, rule, sink)) }
            }
            for (number, name) in briefingNames.enumerated() {
                guard let count = briefings[Key(rule: number, sink: sink)] else { continue }
                cells.append([names.sinks[sink], "(briefing \(name))", "", String(count), ""])
            }
        }
        return Self.aligned(cells)
    }

    private func line(_ row: Row, _ rule: Int, _ sink: Int) -> [String] {
        var reasons = Receipt.allCases.compactMap { receipt in row.receipts[receipt].map { "\(receipt.rawValue) \($0)" }
        }
        if row.outboxFull > 0 { reasons.append("outbox full \(row.outboxFull)") }
        return [
            sink == Effect.nobody ? "-" : names.sinks[sink], rule == Effect.nobody ? "-" : names.rules[rule],
            String(row.effects), String(row.notices), reasons.joined(separator: ", "),
        ]
    }

    /// Columns of one width each, numbers to the right.
    private static func aligned(_ cells: [[String]]) -> [String] {
        let widths = cells.first.map { $0.indices.map { column in cells.map { $0[column].count }.max() ?? 0 } } ?? []
        return cells.map { row in
            let texts = row.indices.map { column -> String in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 2 || column == 3 ? space + row[column] : row[column] + space
            }
            let line = texts.joined(separator: "  ")
            return "  " + String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
