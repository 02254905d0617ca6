internal import RelayCore
internal import RelayRules
internal import RelaySinks

/// The trace of an event for people: each rule, each condition, true or false and what the event has there.
struct TraceText {
    /// The lines.
    private(set) var lines: [String] = []
    private let style: TextLine.Style

    /// Writes the lines of a trace.
    init(_ trace: Trace, style: TextLine.Style) {
        self.style = style
        var decider: String?
        let width = String(trace.steps.count).count
        for (number, step) in trace.steps.enumerated() {
            let place = String(number + 1)
            let head = String(repeating: " ", count: width - place.count) + place + ". " + Shown.printable(step.rule)
            lines.append("\(head): \(verdict(on: step, decider: decider))")
            let indentation = String(repeating: " ", count: width + 4)
            if let condition = step.condition { append(condition, indentation) }
            for target in step.targets { append(target, indentation) }
            if !step.policies.isEmpty {
                lines.append(indentation + Shown.printable("asks for \(step.policies.joined(separator: ", "))"))
            }
            if step.isReached, step.holds, !step.isContinued { decider = step.rule }
        }
    }

    /// Returns the conditions that made a rule match, on one line and cut.
    static func reason(_ condition: Trace.Condition) -> String {
        let texts = condition.text == allOf ? condition.parts.map(Self.brief) : [Self.brief(condition)]
        let text = texts.joined(separator: ", ")
        return Shown.printable(text.count > longestReason ? String(text.prefix(longestReason)) + "…" : text)
    }

    private static let longestReason = 80
    private static let allOf = "all of"

    private static func brief(_ condition: Trace.Condition) -> String {
        guard !condition.parts.isEmpty else { return condition.text }
        return "\(condition.text) (\(condition.parts.map(brief).joined(separator: ", ")))"
    }

    private func verdict(on step: Trace.Step, decider: String?) -> String {
        guard step.isReached else {
            return "not asked" + (decider.map { ", as \(Shown.printable(Shown.quoted($0))) decided" } ?? "")
        }
        guard step.holds else { return styled("does not match", "2") }
        let end = step.isDrop ? ", drops" : step.isContinued ? ", and goes on" : ", and decides"
        return styled("matches", "1") + (step.condition == nil ? " everything" : "") + end
    }

    private mutating func append(_ condition: Trace.Condition, _ indentation: String) {
        let sign = condition.holds ? styled("yes", "32") : styled("no ", "31")
        let seen = condition.seen.map { ": it has \($0)" } ?? ""
        lines.append("\(indentation)\(sign)  \(Shown.printable(condition.text + seen))")
        for part in condition.parts { append(part, indentation + "  ") }
    }

    private mutating func append(_ target: Trace.Target, _ indentation: String) {
        let taken = target.takenBy.map { ", which \(Shown.quoted($0)) has taken: no effect" } ?? ""
        lines.append(indentation + Shown.printable("to \(target.sink)\(taken)"))
    }

    private func styled(_ text: String, _ code: String) -> String {
        style == .colour ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }
}
