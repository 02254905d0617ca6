import FoundationEssentials
import RelayTestKit
import Testing

@testable import RelayApp

/// `test` says at which moment which sink gets what, and why.
@Suite(.timeLimit(.minutes(1)))
struct TrialTestTests {
    private let program: TrialProgram

    init() throws {
        program = try TrialProgram()
    }

    private func test(_ rules: String, _ events: String, _ arguments: String...) async throws -> RelayProcess.Result {
        try await program.run("test", rules, arguments, input: events)
    }

    /// The lines up to the summary, which an empty line parts from them.
    private func steps(_ result: RelayProcess.Result) -> [String] {
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return Array(lines.prefix { !$0.isEmpty })
    }

    private func summary(_ result: RelayProcess.Result) -> [String] {
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return lines.drop { !$0.isEmpty }.filter { !$0.isEmpty }
    }

    private func likes(_ times: [String]) -> String {
        times.enumerated().map { TrialRules.event("e\($0.offset)", $0.element, actor: "actor\($0.offset)") }.joined()
    }

    @Test func aPatternThatGivesUpIsTold() async throws {
        let rules = TrialRules.text(#"{"name": "slow", "when": {"text": "/(a+)+$/"}, "to": ["team"]}"#)
        let text = String(repeating: "a", count: 5000) + "!"
        let event = #"{"id":"1","kind":"comment","createdAt":"2026-03-01T10:00:00Z","text":"\#(text)"}"#
        let result = try await test(rules, event)
        let sentence = "a regular expression of rule \"slow\" took too long 1 time, which counts as no match"
        #expect(result.status == 0 && result.errors.contains(sentence), "\(result)")
    }

    // MARK: What the journal does

    @Test func aDigestComesWhenItsWindowCloses() async throws {
        let rules = TrialRules.text(
            #"{"name": "likes", "when": {"kind": "like"}, "to": ["team"], "digest": {"by": ["post"], "window": "1h"}}"#)
        let result = try await test(
            rules, likes(["2026-03-01T10:00:00Z", "2026-03-01T10:59:59Z", "2026-03-01T11:00:00Z"]))
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(
            steps(result) == [
                "2026-03-01 11:00:00+01:00  like by actor0 on p1  (e0)",
                "  likes (\"kind\": \"like\") -> team: digest, closes 2026-03-01 12:00:00+01:00",
                "2026-03-01 11:59:59+01:00  like by actor1 on p1  (e1)",
                "  likes (\"kind\": \"like\") -> team: digest, closes 2026-03-01 12:00:00+01:00",
                "2026-03-01 12:00:00+01:00  time passes",
                "  => team: actor0 and actor1 liked your post  (digest of 2)",
                "2026-03-01 12:00:00+01:00  like by actor2 on p1  (e2)",
                "  likes (\"kind\": \"like\") -> team: digest, closes 2026-03-01 13:00:00+01:00",
                "2026-03-01 13:00:00+01:00  time passes",
                "  => team: actor2 liked your post",
            ])
        #expect(
            summary(result) == [
                "3 events, 0 of a known id passed over; virtual time ends 2026-03-01 13:00:00+01:00",
                "  sink  rule   effects  notices  suppressed",
                "  team  likes        3        2",
            ])
    }

    @Test func theFirstOfADigestCanGoAtOnce() async throws {
        let rules = TrialRules.text(
            #"{"name": "f", "to": ["team"], "digest": {"window": "10m", "first": "now"}}"#)
        let result = try await test(rules, likes(["2026-03-01T10:00:00Z", "2026-03-01T10:01:00Z"]))
        #expect(steps(result).contains("  f -> team: at once"))
        #expect(steps(result).last == "  => team: actor1 liked your post")
        #expect(steps(result).dropLast().last == "2026-03-01 11:10:00+01:00  time passes")
    }

    @Test func whatALimitDropsIsToldWithItsReason() async throws {
        let rules = TrialRules.text(
            #"{"name": "few", "to": ["team"], "limit": {"max": 1, "per": "1m", "by": ["post"], "excess": "drop"}}"#)
        let result = try await test(
            rules, likes(["2026-03-01T10:00:00Z", "2026-03-01T10:00:59Z", "2026-03-01T10:01:00Z"]))
        #expect(steps(result).contains("  few -> team: limited: 1 in 1m for one post are used up"))
        #expect(steps(result).last == "     | and 1 more")
        #expect(summary(result).last == "  team  few         3        2  limited 1")
    }

    @Test func whatIsHeldComesInTheMorningOfTheDayWhenClocksChange() async throws {
        let rules = TrialRules.text(
            #"{"name": "calm", "to": ["team"], "hold": "night"}, {"name": "log", "to": ["log"]}"#,
            times: TrialRules.night)
        let result = try await test(rules, likes(["2026-03-28T21:30:00Z", "2026-03-29T00:59:00Z"]))
        #expect(
            steps(result).suffix(3) == [
                "2026-03-29 07:00:00+02:00  time passes", "  => team: night: 2 likes  (briefing of 2)",
                "     | actor0 and actor1 liked your post",
            ])
        #expect(steps(result).contains("  calm -> team: held by night, briefing 2026-03-29 07:00:00+02:00"))
        #expect(summary(result).contains { $0.hasPrefix("  team  (briefing night)") })
    }

    @Test func aRepeatIsToldWithItsReason() async throws {
        let rules = TrialRules.text(
            #"{"name": "once", "to": ["team"], "repeat": {"by": ["post"], "within": "10m"}}"#)
        let result = try await test(rules, likes(["2026-03-01T10:00:00Z", "2026-03-01T10:01:00Z"]))
        #expect(steps(result).last == "  once -> team: duplicate: the same post passed within 10m")
    }

    @Test func aDigestThatFindsNoSlotIsToldWhenItCloses() async throws {
        let rules = TrialRules.text(
            """
            {"name": "d", "to": ["team"], "digest": {"window": "1m"},
              "limit": {"max": 1, "per": "1h", "excess": "drop"}}
            """)
        let result = try await test(
            rules, likes(["2026-03-01T10:00:00Z", "2026-03-01T10:02:00Z", "2026-03-01T10:02:01Z"]))
        #expect(steps(result).last == "  d -> team: a digest of 2 ends limited, as the limit is used up")
        #expect(summary(result).last == "  team  d           3        1  limited 2")
        // Every effect has an end in JSON too.
        let json = try await test(
            rules, likes(["2026-03-01T10:00:00Z", "2026-03-01T10:02:00Z", "2026-03-01T10:02:01Z"]), "--json")
        let end =
            #"{"type":"decision","at":"2026-03-01T10:03:00Z","event":null,"rule":"d","sink":"team","#
            + #""outcome":"suppress","reason":"limited","count":2}"#
        #expect(json.output.hasSuffix(end + "\n"))
    }

    // MARK: Time

    @Test func timeNeverGoesBack() async throws {
        let rules = TrialRules.text(#"{"name": "all", "to": ["log"]}"#)
        let result = try await test(rules, likes(["2026-03-01T10:00:00Z", "2026-03-01T09:00:00Z"]), "--json")
        #expect(result.output.split(separator: "\n").allSatisfy { $0.contains(#""at":"2026-03-01T10:00:00Z""#) })
    }

    @Test func untilEndsTheTry() async throws {
        let rules = TrialRules.text(#"{"name": "d", "to": ["team"], "digest": {"window": "1h"}}"#)
        let events = likes(["2026-03-01T10:00:00Z", "2026-03-01T10:10:00Z"])
        let early = try await test(rules, events, "--until", "2026-03-01T11:59:59")
        #expect(early.status == 0 && !early.output.contains("=>"))
        #expect(summary(early).last == "still open, and not told yet: effects of team 2")
        let late = try await test(rules, events, "--until", "2026-03-01T12:00")
        #expect(late.output.contains("  => team: ") && !late.output.contains("still open"))
    }

    // MARK: Input

    @Test func anArrayOfEventsWillDo() async throws {
        let rules = TrialRules.text(#"{"name": "all", "to": ["log"]}"#)
        let lines = likes(["2026-03-01T10:00:00Z", "2026-03-01T10:00:01Z"])
        let array = "[\n" + lines.split(separator: "\n").joined(separator: ",\n") + "\n]"
        let expected = try await test(rules, lines).output
        #expect(try await test(rules, array).output == expected)
        let path = program.folder.write("events.json", array)
        #expect(try await test(rules, "", path).output == expected)
        #expect(try await test(rules, array, "-").output == expected)
    }

    @Test func whatIsNoEventIsToldWithItsLineAndTheRestIsTried() async throws {
        let rules = TrialRules.text(#"{"name": "all", "to": ["log"]}"#)
        let good = TrialRules.event("e1", "2026-03-01T10:00:00Z")
        let result = try await test(rules, good + "nothing\u{1b}[2J\n{\"id\":\n{\"id\":\"x\"}\n" + good)
        #expect(result.status == 1)
        #expect(
            result.errors == """
                standard input:2: a message that is not JSON was ignored: nothing\\u{1b}[2J
                standard input:3: an event that does not end was ignored: {"id":
                standard input:4: something without a kind came and was passed over; it is no event: {"id":"x"}
                chirp-relay: 3 things could not be used as events

                """)
        #expect(summary(result).first?.hasPrefix("1 event, 1 of a known id passed over") == true)
    }

    @Test func theSecondFaultOfAKindIsToldToo() async throws {
        let result = try await test(TrialRules.text(#"{"name": "all", "to": ["log"]}"#), "{}\n{}\n")
        #expect(result.errors.contains("standard input:1: ") && result.errors.contains("standard input:2: "))
    }

    @Test func thousandsOfFaultsAreCounted() async throws {
        let rules = TrialRules.text(#"{"name": "all", "to": ["log"]}"#)
        let result = try await test(rules, String(repeating: "{}\n", count: 2000))
        #expect(result.errors.split(separator: "\n").count == 22)
        #expect(result.errors.contains("standard input: 1980 more complaints are not shown\n"))
        #expect(result.errors.hasSuffix("chirp-relay: 2000 things could not be used as events\n"))
    }

    @Test func anEventNamesItsStreamWhereThereAreSeveral() async throws {
        let other = #", "other": {"url": "wss://example.com/2", "token": {"env": "T"}, "format": {"kind": "/action"}}"#
        let rules = TrialRules.text(
            #"{"name": "other", "when": {"stream": "other"}, "to": ["team"]}, {"name": "rest", "to": ["log"]}"#,
            streams: other)
        let events =
            #"{"action":"ping","stream":"other"}"# + "\n" + TrialRules.event("e1", "2026-03-01T10:00:00Z")
            + #"{"kind":"like","stream":"othr"}"# + "\n"
        let result = try await test(rules, events)
        #expect(
            result.output.contains(#"  other ("stream": "other") -> team: at once"#)
                && result.output.contains("  rest -> log: at once"))
        #expect(
            result.errors.contains(#"input:3: an event names the stream "othr", which the rules file does not have"#))
        #expect(result.errors.contains(#"1 event without a stream's name taken as of "chirp"; see --stream"#))
        #expect(result.status == 1)
        let named = try await test(rules, #"{"action":"ping"}"#, "--stream", "other")
        #expect(
            named.status == 0 && named.output.contains(#"  other ("stream": "other") -> team: at once"#)
                && named.errors.isEmpty)
    }

    // MARK: Output

    @Test func jsonHasALineForEachEffectAndEachDelivery() async throws {
        let rules = TrialRules.text(
            """
            {"name": "none", "when": {"actor": "actor1"}, "drop": true},
            {"name": "all", "when": {"kind": "like"}, "to": ["log", "team"]},
            """)
        let events =
            likes(["2026-03-01T10:00:00Z", "2026-03-01T10:00:01Z"])
            + TrialRules.event("e\"3", "2026-03-01T10:00:02Z", kind: "poke").replacing("e\"3", with: "e\\\"3")
        let result = try await test(rules, events, "--json")
        let lines = result.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 6)
        let at = #""at":"2026-03-01T10:00:00Z""#
        #expect(
            lines.first
                == #"{"type":"decision",\#(at),"event":"e0","rule":"all","sink":"log","outcome":"deliver","reason":"at once"}"#
        )
        #expect(lines[2].hasPrefix(#"{"type":"delivery",\#(at),"sink":"log","notice":{"type":"event","id":"e0","#))
        #expect(
            lines[4].hasSuffix(#""event":"e1","rule":"none","sink":"-","outcome":"suppress","reason":"dropped"}"#))
        #expect(
            lines[5].hasSuffix(#""event":"e\"3","rule":"","sink":"-","outcome":"suppress","reason":"unmatched"}"#))
        for line in lines { _ = try JSONDecoder().decode(AnyObjectLine.self, from: Data(line.utf8)) }
    }

    private struct AnyObjectLine: Decodable {
        var type: String
        var at: String
        var sink: String
    }

    @Test func oneSinkIsShownAlone() async throws {
        let rules = TrialRules.text(
            #"{"name": "a", "to": ["log"], "continue": true}, {"name": "b", "when": {"kind": "poke"}, "to": ["team"]}"#)
        let events = likes(["2026-03-01T10:00:00Z"]) + TrialRules.event("x", "2026-03-01T10:00:02Z", kind: "poke")
        let result = try await test(rules, events, "--sink", "team")
        #expect(
            steps(result) == [
                "2026-03-01 11:00:02+01:00  poke by ann on p1  (x)", "  b (\"kind\": \"poke\") -> team: at once",
                "  => team: ann: poke",
            ])
        #expect(summary(result).count == 3)
        let json = try await test(rules, events, "--sink=team", "--json")
        #expect(json.output.split(separator: "\n").count == 2)
    }

    @Test func textOfStrangersMovesNoCursor() async throws {
        let rules = TrialRules.text(#"{"name": "all", "to": ["log"]}"#)
        let event = TrialRules.event(
            "i\\u001b", "2026-03-01T10:00:00Z", kind: "comment\\u0007", actor: "a\\u001b[31m", post: "p\\r",
            more: #","text":"one\ntwo\u001b[2J\u202e"#.replacing("\u{1b}", with: "\\u001b") + "\"")
        let result = try await test(rules, event)
        let allowed = result.output.unicodeScalars.allSatisfy { $0 == "\n" || ($0.value >= 0x20 && $0.value < 0x7f) }
        #expect(allowed && result.status == 0)
        #expect(
            result.output.contains(#"comment\u{7} by a\u{1b}[31m on p\u{d}: one\u{a}two\u{1b}[2J\u{202e}  (i\u{1b})"#))
    }

    @Test func noSecretIsReadAndNothingIsSent() async throws {
        let rules = TrialRules.text(#"{"name": "all", "to": ["team"]}"#)
        let result = try await test(rules, likes(["2026-03-01T10:00:00Z"]))
        #expect(result.status == 0 && result.errors.isEmpty)
    }

    // MARK: Mistakes

    struct Wrong: Sendable {
        var arguments: [String]
        var status: Int32
        var told: String

        init(_ arguments: String, _ status: Int32, _ told: String) {
            self.arguments = arguments.split(separator: " ").map(String.init)
            (self.status, self.told) = (status, told)
        }
    }

    @Test(arguments: [
        Wrong("--sink tema", 64, #"--sink: the rules file has no sink "tema"; did you mean "team"?"#),
        Wrong("--sink x", 64, #"--sink: the rules file has no sink "x"; there are log, team"#),
        Wrong("--until soon", 64, #"--until is a time like "2026-03-29T02:30""#),
        Wrong("--stream x", 64, #"--stream: the rules file has no stream "x"; there are chirp"#),
        Wrong("--rules -", 64, "the rules and the events cannot both come from standard input"),
        Wrong("none.ndjson", 1, "none.ndjson cannot be read: No such file or directory"),
        Wrong("--expect none.json", 78, "none.json: open failed: No such file or directory"),
        Wrong("--expect x.json --json", 64, "--json and --expect exclude each other"),
    ]) func aMistakeIsOneSentence(_ wrong: Wrong) async throws {
        let result = try await program.run(
            "test", TrialRules.text(#"{"name": "all", "to": ["log"]}"#), wrong.arguments)
        #expect(result.status == wrong.status && result.errors.contains(wrong.told))
        #expect(result.errors.split(separator: "\n").count == 1 && result.output.isEmpty)
    }
}
