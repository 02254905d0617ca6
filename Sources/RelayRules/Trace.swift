package import RelayCore

/// Why an event has the effects it has: every rule in order, with every condition.
package struct Trace: Sendable, Equatable {
    /// A condition and what came of it.
    package struct Condition: Sendable, Equatable {
        /// The key and its value as written, such as `"kind": "like"`; `all of` and the like for what has parts.
        package var text: String
        /// Whether it holds.
        package var holds: Bool
        /// What the event has there, for people: cleaned and cut; nil of a condition with parts.
        package var seen: String?
        /// The parts, each of them decided, even where one was enough.
        package var parts: [Condition]
    }

    /// What a matched rule does for one sink.
    package struct Target: Sendable, Equatable {
        /// The name of the sink.
        package var sink: String
        /// The earlier rule that took the sink, so that this one makes no effect for it; nil if this one takes it.
        package var takenBy: String?
    }

    /// One rule.
    package struct Step: Sendable, Equatable {
        /// The name of the rule.
        package var rule: String
        /// Whether it was asked, or an earlier rule had decided.
        package var isReached: Bool
        /// Whether its condition holds.
        package var holds: Bool
        /// Its condition; nil if it has none, or was not reached.
        package var condition: Condition?
        /// Whether it drops, if it holds.
        package var isDrop: Bool
        /// Whether the rules after it are asked too, if it holds.
        package var isContinued: Bool
        /// The sinks, if it holds.
        package var targets: [Target]
        /// What it asks of the journal, such as `limit 5 per 1m by actor`, in the order of effects.
        package var policies: [String]
    }

    /// All rules, in the order of the file.
    package var steps: [Step]
    /// The effects, as `decide` gives them.
    package var effects: [Effect]
}

extension RuleSet {
    /// Decides an event as `decide` does, and tells why; patterns that give up are not counted once more.
    package func explain(_ event: Event, at wall: Instant) -> Trace {
        var effects: [Effect] = []
        decide(event, at: wall, into: &effects, counts: false)
        var scratch = scratch(at: wall)
        let seen = SeenValues(event: event, wall: wall, times: times)
        var takers: [Int: String] = [:]
        var isDecided = false
        var steps: [Trace.Step] = []
        for (number, rule) in rules.enumerated() {
            let condition = isDecided ? nil : written[number].map { trace($0, event, seen, &scratch) }
            let holds = !isDecided && condition?.holds ?? true
            var targets: [Trace.Target] = []
            for sink in rule.sinks where holds {
                targets.append(Trace.Target(sink: sinkNames[sink], takenBy: takers[sink]))
                if takers[sink] == nil { takers[sink] = rule.name }
            }
            steps.append(
                Trace.Step(
                    rule: rule.name, isReached: !isDecided, holds: holds, condition: condition, isDrop: rule.isDrop,
                    isContinued: rule.isContinued, targets: targets, policies: holds ? rule.policy.sentences : []))
            if holds, !rule.isContinued { isDecided = true }
        }
        return Trace(steps: steps, effects: effects)
    }

    private func trace(
        _ written: WrittenCondition, _ event: Event, _ seen: SeenValues, _ scratch: inout Scratch
    ) -> Trace.Condition {
        func branch(_ words: String, _ parts: [Trace.Condition], _ holds: Bool) -> Trace.Condition {
            Trace.Condition(text: words, holds: holds, seen: nil, parts: parts)
        }
        switch written.form {
        case .all(let conditions):
            let parts = conditions.map { trace($0, event, seen, &scratch) }
            return branch("all of", parts, parts.allSatisfy(\.holds))
        case .any(let conditions):
            let parts = conditions.map { trace($0, event, seen, &scratch) }
            return branch("any of", parts, parts.contains(where: \.holds))
        case .not(let condition):
            let part = trace(condition, event, seen, &scratch)
            return branch("not", [part], !part.holds)
        case .values, .time, .field:
            scratch.isOverLimit = false
            let holds = written.condition.holds(for: event, &scratch)
            var value = seen.text(for: written.form)
            if scratch.isOverLimit { value += " (a regular expression took too long, which is no match)" }
            return Trace.Condition(text: written.text, holds: holds, seen: value, parts: [])
        }
    }
}

/// What an event has where conditions look, in words.
private struct SeenValues {
    let event: Event
    let wall: Instant
    let times: [String: QuietTime]

    /// The most graphemes of a value.
    private static let longestValue = 80

    func text(for form: WrittenCondition.Form) -> String {
        switch form {
        case .values(.stream, _): Self.quoted(UntrustedText(event.stream))
        case .values(let field, _): event.text(of: field.range(in: event.record)).map(Self.quoted) ?? "absent"
        case .field(let test): value(at: test.pointer)
        case .time(let names): names.map(state).joined(separator: ", ")
        case .all, .any, .not: ""
        }
    }

    private func value(at pointer: JSONPointer) -> String {
        guard event.record.raw.isPresent else { return "absent" }
        return event.withBytes(of: event.record.raw) { raw in
            guard let value = JSONLookup.find(pointer, in: raw) else { return "absent" }
            switch value.kind {
            case .object: return "an object"
            case .array: return "an array"
            case .null: return "null"
            case .number, .bool, .string:
                var text = UntrustedText()
                value.append(from: raw, to: &text.utf8)
                return value.kind == .string ? Self.quoted(text) : Self.shown(text)
            }
        }
    }

    private func state(_ name: String) -> String {
        guard let time = times[name] else { return "\(name) is off" }
        return "\(name) is \(time.state(at: wall).isOn ? "on" : "off") at \(LocalClock.text(wall, in: time.zone))"
    }

    private static func quoted(_ text: UntrustedText) -> String { "\"\(shown(text))\"" }

    private static func shown(_ text: UntrustedText) -> String {
        TextCut.graphemes(TextCleaning.clean(text.string), max: longestValue)
    }
}
