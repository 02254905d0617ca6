import RelayCore
import Testing

@testable import RelayRules

struct RuleLintTests {
    private static let head =
        #"{"lists": {"friends": ["ann", "Bo"], "bots": ["*_bot"], "empty": []}, "#
        + #""times": {"night": {"from": "22:00", "to": "07:00"}, "noon": {"from": "12:00", "to": "13:00"}},"#
    /// Uses what is declared, and catches the rest.
    private static let tail = """
        {"name": "z1", "when": {"actor": ["@friends", "@bots", "@empty"], "time": ["night", "noon"]}, "to": ["log"], "continue": true},
        {"name": "z2", "to": ["log"]}]}
        """

    /// The warnings about these rules, without `r:` and with the line of each rule counted from 1.
    private func lines(_ rules: String...) -> [String] {
        let loaded = load(Self.head + "\"rules\": [\n" + rules.map { $0 + ",\n" }.joined() + Self.tail, lints: true)
        #expect(loaded.rules != nil)
        return loaded.lines.map { String($0.dropFirst(2)) }
    }

    @Test(arguments: [
        #""kind": "like", "all": [{"kind": ["comment", "follow"]}]"#,
        #""actor": "ANN", "not": {"actor": "@friends"}"#, #""actor": "x_bot", "not": {"actor": ["y", "*_bot"]}"#,
        #""actor": "@empty""#, #""kind": "like", "any": [{"kind": "comment"}, {"kind": "follow"}]"#,
        #""text": "/a/", "not": {"text": ["x", "/a/"]}"#, #""actor": "a*", "not": {"actor": "A*"}"#,
        #""time": "night", "not": {"time": ["noon", "night"]}"#, #""field": {"/a": {"exists": false, "equals": 1}}"#,
        #""field": {"/a": {"above": 2, "below": 2.0}}"#, #""not": {"kind": "*"}"#,
        #""actor": "ann", "all": [{"actor": "*_bot"}]"#,
    ])
    func contradictionsAreTold(_ when: String) {
        let lines = lines("{\"name\": \"a\", \"when\": {\(when)}, \"to\": [\"team\"]}")
        #expect(lines.count == 1)
        #expect(lines.first?.contains("warning: rules[0].when") == true)
        #expect(lines.first?.hasSuffix(": can never hold, as its parts contradict each other") == true)
    }

    @Test(arguments: [
        #""kind": "like", "all": [{"kind": ["comment", "like"]}]"#, #""actor": "cy", "not": {"actor": "@friends"}"#,
        #""actor": "a*", "all": [{"actor": "*a"}]"#, #""text": "/a/", "not": {"text": "/b/"}"#,
        #""text": "abc", "all": [{"text": "/x/"}]"#, #""actor": ["ann", "cy"], "not": {"actor": "@friends"}"#,
        #""kind": "like", "any": [{"kind": "comment"}, {"actor": "x"}]"#,
        #""time": ["night", "noon"], "not": {"time": "noon"}"#,
        #""field": {"/a": {"above": 1, "below": 1.5}}"#, #""post": "A", "not": {"post": "a"}"#,
    ])
    func whatCanHoldIsNotTold(_ when: String) {
        #expect(lines("{\"name\": \"a\", \"when\": {\(when)}, \"to\": [\"team\"]}") == [])
    }

    @Test(arguments: [
        (#""kind": "like""#, #""kind": "like", "actor": "ann""#),
        (#""kind": ["like", "follow"]"#, #""kind": "follow""#),
        (#""actor": "*_bot""#, #""actor": "News_Bot""#), (#""actor": "@friends""#, #""actor": "BO""#),
        (#""any": [{"kind": "like"}, {"actor": "@friends"}]"#, #""actor": "ann""#),
        (#""not": {"actor": "@friends"}"#, #""actor": "cy""#),
        (#""text": "/a/""#, #""text": "/a/", "kind": "comment""#),
        (#""not": {"kind": "like", "actor": "ann"}"#, #""not": {"kind": "like"}"#),
        (#""kind": ["like", "follow"]"#, #""any": [{"kind": "like"}, {"kind": "follow", "actor": "x"}]"#),
        (#""time": ["night", "noon"]"#, #""time": "night""#), (#""kind": "*""#, #""kind": "like""#),
        (#""field": {"/a": {"equals": 1}}"#, #""field": {"/a": {"equals": 1}}, "kind": "like""#),
    ])
    func shadowedRulesAreTold(_ first: String, _ second: String) {
        let drop = "{\"name\": \"a\", \"when\": {\(first)}, \"drop\": true}"
        #expect(
            lines(drop, "{\"name\": \"b\", \"when\": {\(second)}, \"to\": [\"team\"]}").first {
                $0.contains("rules[1]")
            }
                == #"3:1: warning: rules[1]: is never asked: "a" at 2:1 decides everything that it would match"#)
        // The other way round each has something to do.
        let lines = lines(
            "{\"name\": \"b\", \"when\": {\(second)}, \"to\": [\"team\"]}",
            "{\"name\": \"a\", \"when\": {\(first)}, \"drop\": true}")
        #expect(!lines.contains { $0.contains("rules[1]") })
    }

    @Test func aCatchAllShadowsAllBehindIt() {
        let loaded = load(
            #"{"rules": [{"name": "a", "to": ["log"]}, {"name": "b", "when": {"kind": "x"}, "drop": true}]}"#,
            lints: true)
        #expect(
            loaded.lines == [
                #"r:1:42: warning: rules[1]: is never asked: "a" at 1:12 decides everything that it would match"#
            ])
    }

    @Test func takenSinksAreTold() {
        let lines = lines(
            #"{"name": "a", "when": {"kind": ["like", "follow"]}, "to": ["team"], "continue": true}"#,
            #"{"name": "b", "to": ["log"], "continue": true}"#,
            #"{"name": "c", "when": {"kind": "like"}, "to": ["team", "log"]}"#,
            #"{"name": "d", "when": {"kind": "like"}, "to": ["team", "desktop"]}"#)
        #expect(
            lines.first
                == #"4:1: warning: rules[2]: has no effect: its sinks are all taken before, by "a" at 2:1, "b" at 3:1"#)
        // The rules of the tail go to a sink that is taken too.
        #expect(!lines.contains { $0.contains("rules[0]") || $0.contains("rules[1]") })
    }

    @Test func whatNobodyUsesIsTold() {
        let text = """
            {"lists": {"a": ["x"], "_n": 1, "b": ["y"]}, "times": {"t": {"from": "01:00", "to": "02:00"},
              "h": {"from": "01:00", "to": "02:00"}},
             "rules": [{"name": "r", "when": {"not": {"field": {"/x": {"matches": "@b"}}}}, "to": ["log"], "hold": "h"}]}
            """
        #expect(
            load(text, lints: true).lines == [
                #"r:1:12: warning: lists.a: no rule uses the list "a""#,
                #"r:1:56: warning: times.t: no rule uses the time "t""#,
                "r:3:11: warning: rules: no rule catches the rest: an event that none of them matches goes nowhere; "
                    + "a last rule without \"when\" would catch it",
            ])
    }

    @Test func nothingIsSaidBeyondTheBudget() {
        var logic = ConditionLogic(budget: 3)
        let loaded = load(
            #"{"rules": [{"name": "a", "when": {"kind": "x", "actor": "y", "post": "z"}, "to": ["log"]}]}"#)
        let when = loaded.rules?.written[0]
        let isSaid = logic.implies(when, when)
        #expect(!isSaid && logic.isExhausted)
        var free = ConditionLogic()
        let isSaidFreely = free.implies(when, when)
        #expect(isSaidFreely)
    }

    /// A file with so many rules, of which a test looks at the last one.
    private func many(_ count: Int, _ when: (Int) -> String, last: String) -> [String] {
        let rules = (0..<count).map { "{\"name\": \"r\($0)\", \"when\": {\(when($0))}, \"to\": [\"team\"]}" }
        let tail = [
            "{\"name\": \"last\", \"when\": {\(last)}, \"to\": [\"team\"]}", "{\"name\": \"rest\", \"to\": [\"log\"]}",
        ]
        return load("{\"rules\": [\n" + (rules + tail).joined(separator: ",\n") + "]}", lints: true).lines
    }

    @Test func tenThousandRulesWithLiteralsAreDecided() {
        let kinds = ["like", "comment", "follow"]
        let rule = { (number: Int) in "\"kind\": \"\(kinds[number % 3])\", \"actor\": [\"a\(number)\", \"b\(number)\"]"
        }
        #expect(many(10_000, rule, last: rule(9_999) + #", "post": "p""#).count == 1)
        let glob = { (number: Int) in "\"actor\": \"*x\(number)\", \"text\": \"/y/\"" }
        #expect(many(2000, glob, last: #""actor": "*X7", "text": "/y/""#).count == 1)
        let test = { (number: Int) in "\"field\": {\"/a\": {\"equals\": \(number)}}" }
        #expect(many(2000, test, last: #""field": {"/a": {"equals": 7}}, "kind": "like""#).count == 1)
    }

    @Test func whatWasNotComparedIsTold() {
        let lines = many(3000, { "\"not\": {\"actor\": \"a\($0)\"}" }, last: #""kind": "like""#)
        #expect(lines.count == 1)
        #expect(
            lines.first?.hasSuffix(": this rule and those after it were not compared: that would take too long") == true
        )
    }

    /// Looking candidates up leaves out none that follows.
    @Test func candidatesAreAllThatFollow() throws {
        let leaves = [
            #""actor": "ann""#, #""actor": ["Bo", "*_bot"]"#, #""actor": "X_bot""#, #""actor": "*""#,
            #""kind": "like""#,
            #""kind": ["like", "comment"]"#, #""kind": "*""#, #""text": "/a/""#, #""text": ["/a/", "b"]"#,
            #""text": "B""#,
            #""not": {"actor": "ann"}"#, #""not": {"kind": "like"}"#, #""field": {"/a": {"equals": 1}}"#,
            #""any": [{"actor": "ann"}, {"kind": "comment"}]"#,
            #""any": [{"actor": "bo"}, {"actor": "ann", "kind": "like"}]"#,
            #""any": [{"not": {"kind": "x"}}, {"actor": "ann"}]"#, #""actor": "@friends""#,
            #""actor": ["@friends", "cy"]"#,
            #""any": [{"any": [{"kind": "like"}, {"actor": "@friends"}]}, {"text": "b"}]"#,
        ]
        var followed = 0
        for seed in 0..<300 as Range<UInt64> {
            var random = SplitMix(seed)
            let rules = (0..<12).map { number in
                let parts = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    "{\(leaves.randomElement(using: &random) ?? "")}"
                }
                return
                    "{\"name\": \"\(number)\", \"when\": {\"all\": [\(parts.joined(separator: ", "))]}, \"to\": [\"log\"]}"
            }
            let lists = #"{"friends": ["ann", "bo"]}"#
            let written = try #require(load(file(rules: rules.joined(separator: ", "), lists: lists)).rules).written
            let candidates = RuleCandidates(written)
            var logic = ConditionLogic()
            for (number, condition) in written.enumerated() {
                let found = candidates.candidates(for: condition, before: number).rules
                for other in 0..<number where logic.implies(condition, written[other]) {
                    followed += 1
                    #expect(found.contains(other), "seed \(seed): \(rules[number]) implies \(rules[other])")
                }
            }
        }
        #expect(followed > 1000)
    }

    /// What the lint says must be so for every event.
    @Test func whatIsSaidHoldsForRandomEvents() throws {
        let names = ["ann", "bo", "x_bot", "cy"]
        let kinds = ["like", "comment"]
        let leaves = [
            #""actor": "ann""#, #""actor": ["bo", "*_bot"]"#, #""actor": "*_bot""#, #""kind": "like""#,
            #""kind": ["like", "comment"]"#,
            #""not": {"actor": ["ann", "bo"]}"#, #""not": {"kind": "like"}"#,
            #""any": [{"actor": "ann"}, {"kind": "comment"}]"#,
            #""all": [{"actor": "bo"}, {"not": {"kind": "comment"}}]"#, #""text": "/a/""#, #""not": {"text": "/a/"}"#,
        ]
        var said = 0
        for seed in 0..<1000 as Range<UInt64> {
            var random = SplitMix(seed)
            func when() -> String {
                let parts = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    leaves.randomElement(using: &random) ?? ""
                }
                return "\"when\": {\"all\": [\(parts.map { "{\($0)}" }.joined(separator: ", "))]}"
            }
            let text =
                "{\"rules\": [{\"name\": \"a\", \(when()), \"drop\": true}, {\"name\": \"b\", \(when()), \"to\": [\"log\"]}]}"
            let loaded = load(text, lints: true)
            let rules = try #require(loaded.rules)
            let isNever = (0...1).map { number in loaded.lines.contains { $0.contains("rules[\(number)].when") } }
            let isShadowed = loaded.lines.contains { $0.contains("is never asked") }
            said += isNever.count { $0 } + (isShadowed ? 1 : 0)
            for name in names {
                for kind in kinds {
                    for text in ["a", nil] {
                        let outcome = rules.outcome(event(kind: kind, actor: name, text: text))
                        if isNever[0] { #expect(!outcome.contains("a>"), "seed \(seed)") }
                        if isNever[1] || isShadowed { #expect(!outcome.contains("b>"), "seed \(seed)") }
                    }
                }
            }
        }
        #expect(said > 100)
    }
}
