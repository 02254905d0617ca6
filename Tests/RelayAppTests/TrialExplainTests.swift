import FoundationEssentials
import RelayTestKit
import Testing

@testable import RelayApp

/// `explain` shows for one event each rule and each condition, the effects, and when the notice would come.
@Suite(.timeLimit(.minutes(1)))
struct TrialExplainTests {
    private let program: TrialProgram
    private static let rules = TrialRules.text(
        """
        {"name": "no bots", "when": {"actor": "*_bot"}, "drop": true},
        {"name": "log", "to": ["log"], "continue": true},
        {"name": "calm", "when": {"kind": "like", "any": [{"actor": "ann"}, {"not": {"post": "p1"}}]},
          "to": ["log", "team"], "hold": "night", "limit": {"max": 1, "per": "1h"}},
        {"name": "rest", "to": ["team"]},
        """, times: TrialRules.night)

    init() throws {
        program = try TrialProgram()
    }

    private func explain(_ arguments: String..., input: String = "") async throws -> RelayProcess.Result {
        try await program.run("explain", Self.rules, arguments, input: input)
    }

    @Test func eachRuleAndEachConditionIsShown() async throws {
        let result = try await explain(
            "--kind", "like", "--actor", "Bo", "--post", "p2", "--at", "2026-03-29T02:30")
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(
            result.output == """
                1. no bots: does not match
                     no   "actor": "*_bot": it has "Bo"
                2. log: matches everything, and goes on
                     to log
                3. calm: matches, and decides
                     yes  all of
                       yes  "kind": "like": it has "like"
                       yes  any of
                         no   "actor": "ann": it has "Bo"
                         yes  not
                           no   "post": "p1": it has "p2"
                     to log, which "log" has taken: no effect
                     to team
                     asks for hold in night, limit 1 per 1h, excess digest
                4. rest: not asked, as "calm" decided

                2026-03-29 03:30:00+02:00  like by Bo on p2  (explained)
                  log -> log: at once
                  calm ("kind": "like", any of ("actor": "ann", not ("post": "p1"))) -> team: held by night, \
                briefing 2026-03-29 07:00:00+02:00
                  => log: Bo liked your post
                2026-03-29 07:00:00+02:00  time passes
                  => team: night: 1 like  (briefing of 1)
                     | Bo liked your post

                """)
    }

    @Test func anEventThatIsDroppedHasItsReceipt() async throws {
        let result = try await explain("--kind", "like", "--actor", "my_BOT", "--at", "2026-03-01T12:00:00Z")
        #expect(result.output.hasPrefix("1. no bots: matches, drops\n"))
        #expect(result.output.contains("2. log: not asked, as \"no bots\" decided\n"))
        #expect(result.output.hasSuffix("  no bots (\"actor\": \"*_bot\"): dropped\n"))
    }

    @Test func theFirstEventOfAFileIsTaken() async throws {
        let events =
            TrialRules.event("first", "2026-03-01T12:00:00Z", kind: "comment")
            + TrialRules.event("second", "2026-03-01T12:00:01Z")
        let path = program.folder.write("events.ndjson", events)
        for (operand, input) in [(path, ""), ("-", events)] {
            let result = try await explain(operand, input: input)
            #expect(result.status == 0 && result.output.contains("(first)\n") && !result.output.contains("(second)"))
            #expect(result.errors.contains("has 1 more event; `test` tries them all"))
        }
        let later = try await explain(path, "--at", "2026-03-01 23:00")
        #expect(later.output.contains("2026-03-01 23:00:00+01:00  comment by ann on p1  (first)\n"))
    }

    @Test func jsonHasALineForEachRuleThenTheSteps() async throws {
        struct Line: Decodable {
            var type: String
            var rule: String?
            var holds: Bool?
        }
        let result = try await explain("--kind", "like", "--actor", "ann", "--at", "2026-03-01T12:00:00Z", "--json")
        let lines = result.output.split(separator: "\n")
        let decoded = try lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        let types = Array(repeating: "rule", count: 4) + Array(repeating: "decision", count: 2)
        #expect(decoded.map(\.type) == types + Array(repeating: "delivery", count: 2))
        #expect(decoded.prefix(4).map(\.holds) == [false, true, true, false])
        #expect(
            lines.first == """
                {"type":"rule","rule":"no bots","reached":true,"holds":false,"drop":true,"continue":false,"condition":\
                {"text":"\\"actor\\": \\"*_bot\\"","holds":false,"seen":"\\"ann\\"","parts":[]},"to":[],"policies":[]}
                """)
    }

    @Test func textOfStrangersMovesNoCursor() async throws {
        let result = try await explain(
            "--kind", "like\u{1b}[2J", "--actor", "a\u{202e}\n", "--post", "\u{7}", "--at", "2026-03-01T12:00:00Z")
        #expect(result.status == 0)
        #expect(result.output.unicodeScalars.allSatisfy { $0 == "\n" || ($0.value >= 0x20 && $0.value < 0x7f) })
    }

    @Test(arguments: [
        ("", "there is no event to explain; give EVENT-ID, a FILE, - for standard input, or --kind KIND"),
        ("--actor ann", "an event needs a kind; give EVENT-ID, a FILE, - for standard input, or --kind KIND"),
        ("--kind like --at never", "--at is a time like "),
        ("--kind like --stream chrip", #"--stream: the rules file has no stream "chrip"; did you mean "chirp"?"#),
        ("--kind like -", "--kind makes an event; give it, or a FILE or an EVENT-ID"),
        ("01JB5 --at 2026-03-01T12:00", "--at does not go with the id of an event, which was received at its own time"),
        ("01JB5 --no-state", "a relay with --no-state keeps no journal to look into"),
        ("--rules - -", "the rules and the event cannot both come from standard input"),
    ]) func aMistakeIsOneSentence(words: String, told: String) async throws {
        let result = try await program.run("explain", Self.rules, words.split(separator: " ").map(String.init))
        #expect(result.status == 64 && result.output.isEmpty)
        #expect(result.errors.contains(told) && result.errors.split(separator: "\n").count == 1)
    }

    @Test func aFileWithoutAnEventIsAFailure() async throws {
        let result = try await explain("-", input: "{}\n")
        #expect(result.status == 1 && result.errors.contains("standard input has no event to explain"))
    }
}
