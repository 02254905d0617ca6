import GLibRuntime
import RelayCore
import Testing

@testable import RelayRules

struct ExplainTests {
    private static let text = #"""
        {"lists": {"friends": ["ann"]}, "times": {"night": {"from": "22:00", "to": "07:00", "zone": "Europe/Berlin"}},
         "rules": [
           {"name": "all", "to": ["log"], "continue": true},
           {"name": "night", "when": {"time": "night", "field": {"/n": {"above": 3}}}, "drop": true},
           {"name": "any", "when": {"any": [{"actor": "@friends"}, {"not": {"kind": ["like", "x"]}}]}, "to": ["log", "team"],
            "limit": {"max": 5, "per": "1m", "by": ["actor"]}, "digest": {"at": ["09:00"], "by": ["actor", "post"], "max": 9, "first": "now"},
            "hold": "night", "repeat": {"by": ["actor"], "within": "10m"}},
           {"name": "rest", "when": {"text": "/a/"}, "to": ["desktop"]}]}
        """#

    private func trace(_ event: Event, at time: Int64 = 1_774_742_400_000) throws -> Trace {
        try #require(load(Self.text).rules).explain(event, at: Instant(milliseconds: time))
    }

    @Test func everyRuleAndConditionIsTold() throws {
        let trace = try trace(event(kind: "like", actor: "ANN\u{7}", raw: #"{"n": 3.5}"#), at: 1_774_767_600_000)
        #expect(trace.steps.map(\.rule) == ["all", "night", "any", "rest"])
        #expect(trace.steps.map(\.isReached) == [true, true, true, true])
        #expect(trace.steps.map(\.holds) == [true, false, false, false])
        #expect(trace.steps[0].condition == nil)
        let night = try #require(trace.steps[1].condition)
        #expect(night.text == "all of" && !night.holds && night.seen == nil)
        #expect(
            night.parts == [
                .init(
                    text: #""time": "night""#, holds: false, seen: "night is off at 2026-03-29 09:00 in Europe/Berlin",
                    parts: []),
                .init(text: #""field": {"/n": {"above": 3}}"#, holds: true, seen: "3.5", parts: []),
            ])
        let any = try #require(trace.steps[2].condition)
        #expect(any.text == "any of" && any.parts.map(\.text) == [#""actor": "@friends""#, "not"])
        // A name with something invisible in it is another name.
        #expect(any.parts[0].seen == #""ANN""# && !any.parts[0].holds)
        #expect(
            any.parts[1].parts == [.init(text: #""kind": ["like", "x"]"#, holds: true, seen: #""like""#, parts: [])])
        #expect(trace.steps[3].condition == .init(text: #""text": "/a/""#, holds: false, seen: "absent", parts: []))
        #expect(trace.effects == [Effect(rule: 0, sink: 2, action: .deliver)])
    }

    @Test func effectsAndPoliciesAreTold() throws {
        let trace = try trace(event(kind: "comment", actor: "ann", text: "a"))
        #expect(trace.steps.map(\.isReached) == [true, true, true, false])
        let step = trace.steps[2]
        #expect(step.holds && step.targets == [.init(sink: "log", takenBy: "all"), .init(sink: "team", takenBy: nil)])
        #expect(
            step.policies == [
                "repeat by actor within 10m", "digest by actor, post, at 09:00, at most 9, first now", "hold in night",
                "limit 5 per 1m by actor, excess digest",
            ])
        #expect(trace.steps[3].condition == nil && trace.steps[3].targets.isEmpty && trace.steps[3].policies.isEmpty)
        #expect(trace.effects.map(\.rule) == [0, 2])
    }

    @Test func aDropEndsTheMatching() throws {
        let trace = try trace(event(raw: #"{"n": 4}"#))
        #expect(trace.steps[1].holds && trace.steps[1].isDrop && trace.steps[1].targets.isEmpty)
        #expect(trace.steps[2...].allSatisfy { !$0.isReached && !$0.holds })
    }

    @Test func anExpressionThatGaveUpIsTold() throws {
        let loaded = load(file(rules: #"{"name": "r", "when": {"text": "/^(a+)+$/"}, "to": ["log"]}"#))
        let trace = try #require(loaded.rules).explain(
            event(text: String(repeating: "a", count: 90) + "!"), at: Instant(milliseconds: 0))
        let condition = try #require(trace.steps[0].condition)
        #expect(!condition.holds)
        #expect(condition.seen?.hasSuffix("…\" (a regular expression took too long, which is no match)") == true)
    }

    /// The trace is made by other code than the decision, so they are compared.
    @Test func traceAndDecisionAgree() throws {
        let set = try #require(load(Self.text).rules)
        for seed in 0..<1000 as Range<UInt64> {
            var random = SplitMix(seed)
            let event = event(
                kind: ["like", "x", "poll"].randomElement(using: &random) ?? "",
                actor: ["ann", "bo", nil].randomElement(using: &random) ?? nil,
                text: ["a", "b", nil].randomElement(using: &random) ?? nil,
                raw: ["{\"n\": 4}", "{\"n\": 3}", nil].randomElement(using: &random) ?? nil)
            let wall = Instant(milliseconds: .random(in: 1_774_700_000_000...1_774_800_000_000, using: &random))
            let trace = set.explain(event, at: wall)
            var effects: [Effect] = []
            for (number, step) in trace.steps.enumerated() where step.holds {
                for target in step.targets where target.takenBy == nil {
                    let sink = set.sinkNames.firstIndex(of: target.sink) ?? -1
                    effects.append(Effect(rule: number, sink: sink, action: .deliver))
                }
            }
            #expect(effects == trace.effects.filter { $0.action == .deliver }, "seed \(seed)")
        }
    }
}
