internal import RelayCore
internal import RelayJournal
internal import RelayRules

/// What each sink got, and what it would get by other rules: deliveries by sink and rule.
struct ReplayComparison {
    typealias Counts = [RecordedCount.Place: Int]

    /// The deliveries of one rule, or of the briefings, to one sink.
    struct Row: Equatable {
        /// Whether the other rules have the rule, and those before had it.
        enum Change: String {
            case isNew = "new"
            case isGone = "gone"
        }

        /// The name of the rule; nil for briefings.
        var rule: String?
        /// How many were recorded.
        var recorded: Int
        /// How many the replay made.
        var replayed: Int
        /// What happened to the rule; nil if it is in both, or if that is not known.
        var change: Change?
    }

    /// The deliveries to one sink.
    struct Sink: Equatable {
        var name: String
        var rows: [Row]
        var change: Row.Change?
        var recorded: Int { rows.reduce(0) { $0 + $1.recorded } }
        var replayed: Int { rows.reduce(0) { $0 + $1.replayed } }
    }

    /// The sinks in the order of the other rules, then those that they do not have.
    let sinks: [Sink]

    /// Compares counts; `former` are the names that the last relay had in force.
    init(recorded: Counts, replayed: Counts, plan: EffectPlan, former: (rules: [String], sinks: [String])?) {
        let former = former.map { (rules: Set($0.rules), sinks: Set($0.sinks)) }
        let rules = Set(plan.policies.map(\.rule))
        let counts = (recorded: recorded, replayed: replayed)
        let recordedRules = Set(recorded.keys.compactMap(\.rule))
        let recordedSinks = Set(recorded.keys.map(\.sink))
        let gone = (
            rules: recordedRules.subtracting(rules).sorted(),
            sinks: recordedSinks.subtracting(plan.sinkNames).sorted()
        )
        func change(_ name: String, in names: Set<String>, recorded: Set<String>, former: Set<String>?) -> Row.Change? {
            if !names.contains(name) { return .isGone }
            guard let former, !former.contains(name), !recorded.contains(name) else { return nil }
            return .isNew
        }
        sinks = (plan.sinkNames + gone.sinks).compactMap { sink in
            let place = plan.sinkNames.firstIndex(of: sink)
            let takers = Set(plan.policies.filter { policy in place.map(policy.sinks.contains) ?? false }.map(\.rule))
            var rows: [Row] = []
            for rule in plan.policies.map(\.rule) + gone.rules + [nil] as [String?] {
                let key = RecordedCount.Place(rule: rule, sink: sink)
                var row = Row(rule: rule, recorded: counts.recorded[key] ?? 0, replayed: counts.replayed[key] ?? 0)
                if let rule {
                    row.change = change(rule, in: rules, recorded: recordedRules, former: former?.rules)
                }
                // A new rule that does nothing is worth a line.
                let isIdle = row.change == .isNew && rule.map(takers.contains) ?? false
                if row.recorded > 0 || row.replayed > 0 || isIdle { rows.append(row) }
            }
            if rows.isEmpty { return nil }
            return Sink(
                name: sink, rows: rows,
                change: change(sink, in: Set(plan.sinkNames), recorded: recordedSinks, former: former?.sinks))
        }
    }

    // MARK: Words

    /// The lines for people: a sink with its sum, then its rules.
    var lines: [String] {
        let rows = sinks.flatMap(\.rows)
        let width = max(
            rows.map { Self.name($0).count + 2 }.max() ?? 0, sinks.map { Shown.printable($0.name).count + 1 }.max() ?? 0
        )
        let digits = sinks.map { String($0.recorded).count }.max() ?? 0
        func line(_ head: String, _ recorded: Int, _ replayed: Int, _ note: String?) -> String {
            let number = String(recorded)
            return head.padded(to: width + 2) + String(repeating: " ", count: digits - number.count)
                + "\(number) -> \(replayed)" + (note.map { "  (\($0))" } ?? "")
        }
        return sinks.flatMap { sink in
            let note = sink.change.map { $0 == .isNew ? "new sink" : "no longer a sink" }
            return [line("\(Shown.printable(sink.name)):", sink.recorded, sink.replayed, note)]
                + sink.rows.map { row in
                    let note = row.change.map { $0 == .isNew ? "new rule" : "no longer a rule" }
                    return line("  \(Self.name(row))", row.recorded, row.replayed, note)
                }
        }
    }

    private static func name(_ row: Row) -> String { row.rule.map(Shown.printable) ?? "(briefings)" }

    /// The same as JSON objects.
    var json: [JSONValue] {
        sinks.flatMap { sink -> [JSONValue] in
            let rows = sink.rows.map { row in
                JSONValue.object([
                    ("type", row.rule == nil ? "briefings" : "rule"), ("sink", .string(sink.name)),
                    ("rule", .optional(row.rule)), ("recorded", .number(row.recorded)),
                    ("replayed", .number(row.replayed)), ("change", .optional(row.change?.rawValue)),
                ])
            }
            let sum = JSONValue.object([
                ("type", "sink"), ("sink", .string(sink.name)), ("recorded", .number(sink.recorded)),
                ("replayed", .number(sink.replayed)), ("change", .optional(sink.change?.rawValue)),
            ])
            return rows + [sum]
        }
    }
}
