import RelayTestKit
import Testing

@testable import RelayApp

/// A file of expectations beside the rules: which cases hold, and what differs where one does not.
@Suite(.timeLimit(.minutes(1)))
struct TrialExpectationTests {
    private let program: TrialProgram
    private static let rules = TrialRules.text(
        """
        {"name": "log", "to": ["log"], "continue": true},
        {"name": "comments", "when": {"kind": "comment"}, "to": ["team"], "title": "{actor} wrote"},
        """)
    private static let given = """
        [{"id": "1", "kind": "comment", "actorUsername": "ann", "createdAt": "2026-03-29T01:30:00Z", "text": "Hi"},
         {"id": "2", "kind": "like", "actorUsername": "bo", "createdAt": "2026-03-29T01:31:00Z"}]
        """

    init() throws {
        program = try TrialProgram()
    }

    private func expect(_ text: String, rules: String = rules, _ arguments: String...) async throws
        -> RelayProcess.Result
    {
        let path = program.folder.write("rules.test.json", text)
        let result = try await program.run("test", rules, ["--expect", path] + arguments)
        var shown = result
        shown.output = result.output.replacing(program.folder.path + "/", with: "")
        shown.errors = result.errors.replacing(program.folder.path + "/", with: "")
        return shown
    }

    private func oneCase(_ expected: String, more: String = "") async throws -> RelayProcess.Result {
        try await expect("{\"name\": \"it\", \"given\": \(Self.given)\(more),\n\"expect\": [\n\(expected)\n]}")
    }

    @Test func aCaseHolds() async throws {
        let result = try await oneCase(
            """
            {"at": "2026-03-29T03:30", "sink": "team", "title": "ann wrote", "body": "Hi", "rule": "comments",
             "type": "event", "event": "1", "count": 1, "suppressed": 0, "link": ""},
            """)
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(result.output == "ok     it\n1 case, 0 failed\n")
    }

    @Test func aFileWithoutACaseIsWrong() async throws {
        let result = try await expect(#"{"cases": []}"#)
        #expect(result.status == 78 && result.output.isEmpty)
        #expect(result.errors == "rules.test.json:1:11: cases: names no case: there is nothing to check\n")
    }

    @Test func whatDiffersIsToldMemberByMember() async throws {
        let result = try await oneCase(
            #"{"at": "2026-03-29T02:30:00Z", "sink": "team", "title": "bo wrote", "body": "Hi"}"#)
        #expect(result.status == 1)
        #expect(
            result.output == """
                FAILED it
                  rules.test.json:4:1: differs from team at 2026-03-29 03:30:00+02:00: "ann wrote", rule "comments"
                      at
                        expected 2026-03-29 04:30:00+02:00
                        got      2026-03-29 03:30:00+02:00
                      title
                        expected "bo wrote"
                        got      "ann wrote"
                1 case, 1 failed

                """)
    }

    @Test func whatIsMissingIsTold() async throws {
        let result = try await oneCase(
            """
            {"sink": "team"},
            {"at": "2026-03-30T08:00", "sink": "team", "title": "ann wrote"}
            """)
        #expect(
            result.output == """
                FAILED it
                  rules.test.json:5:1: missing: team got nothing like it at 2026-03-30 08:00:00+02:00, "ann wrote"
                1 case, 1 failed

                """)
    }

    @Test func whatWasNotExpectedIsTold() async throws {
        let expected = #"{"sink": "log", "event": "2"}"#
        let result = try await oneCase(expected)
        #expect(
            result.output == """
                FAILED it
                  unexpected: log at 2026-03-29 03:30:00+02:00: "ann commented on your post", rule "log"
                1 case, 1 failed

                """)
        #expect(try await oneCase(expected, more: #", "exactly": false"#).status == 0)
    }

    @Test func onlyTheSinksThatACaseNamesAreLookedAt() async throws {
        #expect(try await oneCase("", more: #", "sinks": ["team"]"#).output.contains("unexpected: team"))
        #expect(try await oneCase(#"{"sink": "team"}"#).status == 0)
        // Without any name all of them are.
        let result = try await oneCase("")
        #expect(result.output.contains("unexpected: team") && result.output.contains("unexpected: log"))
    }

    @Test func anExpectationThatAsksForLittleLeavesTheRestToOthers() async throws {
        let result = try await oneCase(#"{"sink": "log"}, {"sink": "log", "event": "1"}, {"sink": "team"}"#)
        #expect(result.status == 0)
        let other = try await oneCase(#"{"sink": "log", "rule": "log"}, {"sink": "log"}, {"sink": "log"}"#)
        #expect(other.output.contains("missing: log got nothing like it\n"))
    }

    @Test func casesAreToldOneByOne() async throws {
        let events = program.folder.write("events.ndjson", TrialRules.event("1", "2026-03-01T10:00:00Z"))
        #expect(events.hasSuffix("events.ndjson"))
        let result = try await expect(
            """
            {
              // Comments and trailing commas are fine, as in the rules.
              "zone": "America/New_York",
              "cases": [
                {"name": "from a file", "given": "events.ndjson", "expect": [{"sink": "log", "at": "2026-03-01 05:00"}]},
                {"given": "events.ndjson", "expect": [{"sink": "log", "at": "2026-03-01 06:00"}]},
                {"name": "none", "given": [], "expect": []},
              ],
            }
            """)
        #expect(result.status == 1)
        let lines = result.output.split(separator: "\n")
        #expect(lines.first == "ok     from a file" && lines.contains("FAILED case 2"))
        #expect(lines.contains("        got      2026-03-01 05:00:00-05:00"))
        #expect(lines.suffix(2) == ["ok     none", "3 cases, 1 failed"])
    }

    @Test func theFileMayNameItsRulesAndTakeItsEventsFromTheCommandLine() async throws {
        let folder = program.folder
        folder.write("rules.json", Self.rules)
        let events = folder.write("events.ndjson", TrialRules.event("1", "2026-03-01T10:00:00Z"))
        let path = folder.write("t.json", #"{"rules": "rules.json", "expect": [{"sink": "log"}]}"#)
        let result = try await RelayProcess.run(["test", "--expect", path, events], folder: folder)
        #expect(result.status == 0 && result.output == "ok     expectations\n1 case, 0 failed\n")
        let without = try await RelayProcess.run(["test", "--expect", path], folder: folder)
        #expect(without.status == 78 && without.errors.contains("the key \"given\" is missing"))
    }

    @Test func anEventThatCannotBeUsedFailsItsCase() async throws {
        let result = try await expect(
            "{\"given\": [\n{\"kind\": \"like\"},\n{\"id\": \"2\"}], \"expect\": [{\"sink\": \"log\"}]}")
        #expect(result.status == 1)
        #expect(result.output.contains("rules.test.json:2: an event came without a readable time"))
        #expect(result.output.contains("rules.test.json:3: something without a kind came"))
    }

    @Test func untilEndsACase() async throws {
        let rules = TrialRules.text(#"{"name": "d", "to": ["team"], "digest": {"window": "1h"}}"#)
        let event = #""given": [{"id": "1", "kind": "like", "createdAt": "2026-03-01T10:00:00Z"}]"#
        let result = try await expect(
            """
            {"cases": [
              {"name": "before", \(event), "until": "2026-03-01T11:59:59", "expect": []},
              {"name": "at", \(event), "until": "2026-03-01T12:00", "expect": [{"sink": "team"}]}]}
            """, rules: rules)
        #expect(result.output == "ok     before\nok     at\n2 cases, 0 failed\n")
    }

    @Test func mistakesOfTheFileAreToldAllTogetherWithTheirPlaces() async throws {
        let result = try await expect(
            """
            {"zone": "Europe/Berln", "cases": [
              {"given": 7, "until": "noon", "expect": [{"sink": "tema", "at": 5}, {"sink": "log", "titel": "x"}]},
              {"given": [], "exactly": 1},
              {"given": [], "expect": [{"sink": "log", "type": "digset", "count": 0}]}
            ], "case": 1}
            """)
        #expect(result.status == 78 && result.output.isEmpty)
        #expect(
            result.errors == """
                rules.test.json:1:10: zone: there is no zone "Europe/Berln"; write it like "Europe/Berlin"
                rules.test.json:2:13: cases[0].given: expected an array of events, or the name of a file of them, found a number
                rules.test.json:2:25: cases[0].until: "noon" is no time; write it like "2026-03-29T02:30", \
                "2026-03-29 02:30:15" or, with an offset, "2026-03-29T02:30:00+01:00"
                rules.test.json:2:53: cases[0].expect[0].sink: the rules file has no sink "tema"; did you mean "team"?
                rules.test.json:2:87: cases[0].expect[1].titel: unknown key "titel"; did you mean "title"?
                rules.test.json:3:3: cases[1]: the key "expect" is missing
                rules.test.json:3:28: cases[1].exactly: expected true or false, found a number
                rules.test.json:4:52: cases[2].expect[0].type: there is no type "digset"; did you mean "digest"?
                rules.test.json:4:71: cases[2].expect[0].count: expected a whole number from 1 to 2147483647, found 0
                rules.test.json:5:4: case: unknown key "case"; did you mean "cases"?

                """)
    }
}
