import Glibc
import RelayCore
import Testing

@testable import RelayRules

struct DecideTests {
    private static let rules = """
        {"name": "bots", "when": {"actor": "@bots"}, "drop": true},
        {"name": "all", "to": ["log"], "continue": true},
        {"name": "late", "when": {"actor": "late"}, "drop": true},
        {"name": "friends", "when": {"actor": "@friends"}, "to": ["desktop", "log"]},
        {"name": "questions", "when": {"kind": "comment", "text": ["/[?]$/", "/^[Hh]elp/"]}, "to": ["team", "desktop"]},
        {"name": "posts", "when": {"post": ["P-1", "22222222-2222-4222-8222-22222222222A"]}, "to": ["team"]},
        {"name": "nested", "when": {"any": [{"kind": "follow", "not": {"actor": "e*"}}, {"all": [{"kind": "poll"}, {"text": "*x*"}]}]}, "to": ["desktop"]}
        """

    @Test(arguments: [
        (event(actor: "news_bot"), "bots>dropped"), (event(actor: "NEWS_BOT"), "bots>dropped"),
        (event(actor: "ÉMILE_bot"), "bots>dropped"), (event(actor: "spam"), "bots>dropped"),
        (event(actor: "nobody"), "all>log"), (event(actor: nil), "all>log"), (event(actor: ""), "all>log"),
        (event(actor: "late"), "all>log"), (event(actor: "ANN"), "all>log friends>desktop"),
        (event(actor: "zoe\u{308}"), "all>log friends>desktop"), (event(actor: "ZOË"), "all>log friends>desktop"),
        (event(actor: "straße"), "all>log friends>desktop"), (event(actor: "annn"), "all>log"),
        (event(kind: "comment", actor: "x", text: "why?"), "all>log questions>team questions>desktop"),
        (event(kind: "comment", actor: "x", text: "help me"), "all>log questions>team questions>desktop"),
        (event(kind: "comment", actor: "x", text: "HELP me"), "all>log"),
        (event(kind: "comment", actor: "x", text: "é?"), "all>log questions>team questions>desktop"),
        (event(kind: "comment", actor: "x"), "all>log"), (event(kind: "Comment", actor: "x", text: "why?"), "all>log"),
        (event(actor: "x", post: "P-1"), "all>log posts>team"), (event(actor: "x", post: "p-1"), "all>log"),
        (event(actor: "x", post: "22222222-2222-4222-8222-22222222222a"), "all>log posts>team"),
        (event(kind: "follow", actor: "x"), "all>log nested>desktop"), (event(kind: "follow", actor: "eve"), "all>log"),
        (event(kind: "follow", actor: nil), "all>log nested>desktop"),
        (event(kind: "poll", actor: "x", text: "axb"), "all>log nested>desktop"),
        (event(kind: "poll", actor: "x", text: "ab"), "all>log"),
    ])
    func tableHolds(_ event: Event, _ expected: String) throws {
        let loaded = load(
            file(
                rules: Self.rules,
                lists: #"{"bots": ["*_bot", "spam"], "friends": ["ann", "Zoë", "STRASSE"]}"#))
        #expect(loaded.lines.isEmpty)
        #expect(try #require(loaded.rules).outcome(event) == expected)
    }

    @Test func withoutAMatchThereIsOneReceipt() throws {
        let rules = try #require(load(file(rules: #"{"name": "a", "when": {"kind": "follow"}, "to": ["log"]}"#)).rules)
        #expect(rules.outcome(event()) == "unmatched")
        #expect(try #require(load(file(rules: "")).rules).outcome(event()) == "unmatched")
    }

    @Test func streamsCompareExactly() throws {
        let rules = try #require(
            load(file(rules: #"{"name": "a", "when": {"stream": ["chirp", "*-b"]}, "to": ["log"]}"#)).rules)
        #expect(rules.outcome(event(stream: "chirp")) == "a>log")
        #expect(rules.outcome(event(stream: "Chirp")) == "unmatched")
        #expect(rules.outcome(event(stream: "a longer name of a stream-b")) == "a>log")
    }

    @Test func aRuleWhoseSinksAreTakenMakesNoEffect() throws {
        let loaded = load(
            file(
                rules: """
                    {"name": "a", "to": ["log"], "continue": true}, {"name": "b", "to": ["log"], "continue": true},
                    {"name": "c", "to": ["log", "team"]}, {"name": "d", "to": ["desktop"]}
                    """))
        #expect(try #require(loaded.rules).outcome(event()) == "a>log c>team")
    }

    @Test func hostileNamesMatchOnlyThemselves() throws {
        let hostile = [
            "a\u{0}b", "\u{202E}evil", "%s%n", "*", "?", "/x/", "@bots", String(repeating: "a", count: 100_000),
            "\u{1F469}\u{200D}\u{1F469}", "a\u{301}\u{301}\u{301}", "K", "ﬁ", "İ", "ann\u{0}", "ann ",
        ]
        let rules = try #require(
            load(file(rules: #"{"name": "a", "when": {"actor": ["ann", "b?b"]}, "to": ["log"]}"#)).rules)
        for name in hostile { #expect(rules.outcome(event(actor: name)) == "unmatched") }
        #expect(rules.outcome(event(actor: "BÉB")) == "a>log")
        #expect(rules.outcome(event(actor: "b\u{1F469}b")) == "a>log")
    }

    @Test func anExpressionThatRunsAwayIsNoMatchAndIsCounted() throws {
        let loaded = load(
            file(
                rules: """
                    {"name": "a", "when": {"kind": "x"}, "to": ["log"]},
                    {"name": "b", "when": {"actor": "/^(a+)+$/"}, "to": ["log"]}
                    """))
        let rules = try #require(loaded.rules)
        #expect(rules.outcome(event(actor: "aaaa")) == "b>log")
        #expect(rules.patternOverruns == [0, 0])
        #expect(rules.outcome(event(actor: String(repeating: "a", count: 40) + "!")) == "unmatched")
        #expect(rules.patternOverruns == [0, 1])
        // Whoever explains an event has it decided too.
        _ = rules.explain(event(actor: String(repeating: "a", count: 40) + "!"), at: Instant(milliseconds: 0))
        #expect(rules.patternOverruns == [0, 1])
    }

    @Test func manySinksAreTakenOnceEach() throws {
        let names = (0..<200).map { "s\($0)" }
        let list = names.map { "\"\($0)\"" }.joined(separator: ",")
        let text =
            "{\"rules\": [{\"name\": \"a\", \"to\": [\(list)], \"continue\": true}, {\"name\": \"b\", \"to\": [\(list)]}]}"
        let problems = Problems()
        let node = try #require(ConfigurationParser.parse(Array(text.utf8), problems: problems))
        var root = try #require(ObjectReader(node, problems))
        let rules = RuleSetReader.read(root: &root, sinkNames: names, streamNames: [], problems: problems)
        var effects: [Effect] = []
        try #require(rules).decide(event(), at: Instant(milliseconds: 0), into: &effects)
        #expect(effects.map(\.sink) == Array(0..<200))
        #expect(effects.allSatisfy { $0.rule == 0 })
    }

    @Test func theExampleLoadsAndDecides() throws {
        let path = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/rules.example.json"
        let text = try #require(read(path))
        let problems = Problems()
        let node = try #require(ConfigurationParser.parse(text, problems: problems))
        var root = try #require(ObjectReader(node, problems))
        for key in ["streams", "sinks"] { #expect(root.optional(key) != nil) }
        let rules = RuleSetReader.read(
            root: &root, sinkNames: ["desktop", "terminal"], streamNames: ["chirp"], problems: problems)
        root.finish()
        #expect(problems.all.map { $0.line(file: "f") } == [])
        let set = try #require(rules)
        #expect(set.outcome(event(actor: "promo2000")) == "no bots>dropped")
        #expect(set.outcome(event(actor: "zoë")) == "everything>terminal friends>desktop")
        #expect(set.outcome(event(actor: "x")) == "everything>terminal likes, hourly>desktop")
        #expect(set.outcome(event(kind: "poke", actor: "x")) == "everything>terminal")
        #expect(
            set.outcome(event(kind: "comment", actor: "x", text: "Why? ")) == "everything>terminal questions>desktop")
        #expect(set.outcome(event(kind: "comment", actor: "x", text: "Free money!")) == "everything>terminal")
        #expect(set.outcome(event(kind: "comment", actor: "x", text: "hi")) == "everything>terminal comments>desktop")
        #expect(set.outcome(event(kind: "follow", actor: "x")) == "everything>terminal new followers>desktop")
    }

    private func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }
}
