import RelayCore
import Testing

@testable import RelayRules

/// One mistake: the members of a rule named `r` (or a whole file), and the lines that tell of it.
struct Mistake: Sendable, CustomTestStringConvertible {
    var text: String
    var lines: [String]
    var testDescription: String { lines.first ?? "" }

    init(_ text: String, _ lines: String...) {
        self.text = text
        self.lines = lines
    }
}

struct RuleFileTests {
    @Test(arguments: [
        Mistake(#""to": []"#, #"r:2:7: rules[0].to: "to" names at least one sink"#),
        Mistake(#""to": "desktop""#, "r:2:7: rules[0].to: expected an array of names of sinks, found a string"),
        Mistake(#""to": ["desktpo"]"#, #"r:2:8: rules[0].to[0]: there is no sink "desktpo"; did you mean "desktop"?"#),
        Mistake(#""to": ["log", "log"]"#, #"r:2:15: rules[0].to[1]: the sink "log" stands twice"#),
        Mistake(#""to": [3]"#, "r:2:8: rules[0].to[0]: expected the name of a sink, found a number"),
        Mistake(#""urgency": "low""#, #"r:1:25: rules[0]: a rule has "to" or "drop"; here is neither"#),
        Mistake(#""to": ["log"], "drop": true"#, #"r:1:25: rules[0]: a rule has "to" or "drop"; here are both"#),
        Mistake(#""drop": false"#, #"r:2:9: rules[0].drop: "drop" is true or left out"#),
        Mistake(#""drop": "true""#, "r:2:9: rules[0].drop: expected true or false, found a string"),
        Mistake(
            #""drop": true, "continue": true"#,
            #"r:2:27: rules[0].continue: "continue" makes no sense beside "drop", which ends the matching"#),
        Mistake(
            #""drop": true, "urgency": "hihg""#,
            #"r:2:26: rules[0].urgency: there is no urgency "hihg"; it is "low", "normal" or "critical""#),
        Mistake(
            #""drop": true, "urgency": "norml""#,
            #"r:2:26: rules[0].urgency: there is no urgency "norml"; did you mean "normal"?"#),
        Mistake(#""drop": true, "wehn": {}"#, #"r:2:15: rules[0].wehn: unknown key "wehn"; did you mean "when"?"#),
        Mistake(#""drop": true, "when": []"#, "r:2:23: rules[0].when: expected an object, found an array"),
        Mistake(
            #""drop": true, "when": {}"#,
            #"r:2:23: rules[0].when: an empty condition; a rule without "when" matches everything"#),
        Mistake(
            #""drop": true, "when": {"actr": "x"}"#,
            #"r:2:24: rules[0].when.actr: unknown key "actr"; did you mean "actor"?"#),
        Mistake(#""drop": true, "when": {"actor": []}"#, "r:2:33: rules[0].when.actor: an empty array matches nothing"),
        Mistake(#""drop": true, "when": {"actor": ""}"#, "r:2:33: rules[0].when.actor: must not be empty"),
        Mistake(
            #""drop": true, "when": {"actor": ["a", null]}"#,
            "r:2:39: rules[0].when.actor[1]: expected a string, found null"),
        Mistake(
            #""drop": true, "when": {"actor": "@frends"}"#,
            #"r:2:33: rules[0].when.actor: there is no list "@frends"; did you mean "@friends"?"#),
        Mistake(
            #""drop": true, "when": {"stream": "chrip"}"#,
            #"r:2:34: rules[0].when.stream: there is no stream "chrip"; did you mean "chirp"?"#),
        Mistake(
            #""drop": true, "when": {"text": "/a"}"#,
            #"r:2:32: rules[0].when.text: a regular expression stands between two "/", as in "/^a+$/""#),
        Mistake(
            #""drop": true, "when": {"text": "//"}"#,
            #"r:2:32: rules[0].when.text: a regular expression stands between two "/", as in "/^a+$/""#),
        Mistake(
            #""drop": true, "when": {"text": "/(*LIMIT_MATCH=9)a/"}"#,
            #"r:2:32: rules[0].when.text: the regular expression cannot be used: a pattern must not begin with "(*""#),
        Mistake(
            #""drop": true, "when": {"all": {}}"#,
            "r:2:31: rules[0].when.all: expected an array of conditions, found an object"),
        Mistake(#""drop": true, "when": {"any": []}"#, "r:2:31: rules[0].when.any: names no condition"),
        Mistake(
            #""drop": true, "when": {"not": {"all": [{"kidn": "like"}]}}"#,
            #"r:2:41: rules[0].when.not.all[0].kidn: unknown key "kidn"; did you mean "kind"?"#),
        Mistake(
            #""drop": true, "title": "{actr}""#,
            #"r:2:24: rules[0].title: unknown placeholder "{actr}"; did you mean "actor"?"#),
        Mistake(#""drop": true, "body": "{sink}""#, #"r:2:23: rules[0].body: unknown placeholder "{sink}""#),
        Mistake(
            #""drop": true, "link": "https://{actor}.example/""#,
            "r:2:23: rules[0].link: a placeholder cannot stand in the host; the host ends with \"/\" before it"),
    ])
    func mistakeInARuleIsTold(_ mistake: Mistake) {
        let loaded = load(
            "{\"x-a\": 1,   \"rules\": [ {\"name\": \"r\",\n\(mistake.text)}], \"lists\": {\"friends\": [\"a\"]}}")
        #expect(loaded.lines == mistake.lines)
        #expect(loaded.rules == nil)
    }

    @Test(arguments: [
        Mistake(#"{"rules": {}}"#, "r:1:11: rules: expected an array of rules, found an object"),
        Mistake(#"{}"#, #"r:1:1: the key "rules" is missing"#),
        Mistake(#"{"rules": [1]}"#, "r:1:12: rules[0]: expected an object, found a number"),
        Mistake(#"{"rules": [{"drop": true}]}"#, #"r:1:12: rules[0]: the key "name" is missing"#),
        Mistake(#"{"rules": [{"name": "", "drop": true}]}"#, "r:1:21: rules[0].name: a name has 1 to 100 characters"),
        Mistake(
            #"{"rules": [{"name": "a\nb", "drop": true}]}"#, "r:1:21: rules[0].name: a name has no control characters"),
        Mistake(
            #"{"rules": [{"name": "a", "drop": true}, {"name": "a", "drop": true}]}"#,
            #"r:1:50: rules[1].name: the name "a" is taken by rules[0].name at 1:21"#),
        Mistake(
            #"{"status": 1, "rules": []}"#, #"r:1:2: status: "status" is not supported yet"#),
        Mistake(#"{"rules": [], "ruls": []}"#, #"r:1:15: ruls: unknown key "ruls"; did you mean "rules"?"#),
        Mistake(#"{"lists": {"a": "b"}, "rules": []}"#, "r:1:17: lists.a: expected an array of names, found a string"),
        Mistake(
            #"{"lists": {"a": ["@b"], "b": []}, "rules": []}"#,
            "r:1:18: lists.a[0]: a list cannot hold another list; write its names here"),
        Mistake(
            #"{"lists": {"a": ["/b/"]}, "rules": []}"#,
            "r:1:18: lists.a[0]: a list holds names and globs; a regular expression goes into the rule"),
        Mistake(
            #"{"lists": {"a": [], "a": []}, "rules": []}"#,
            #"r:1:21: lists.a: the key "a" stands twice: here and at 1:12"#),
    ])
    func mistakeInAFileIsTold(_ mistake: Mistake) {
        #expect(load(mistake.text).lines == mistake.lines)
    }

    @Test func nineMistakesAreToldTogether() {
        let loaded = load(
            """
            {
              "lists": { "friends": ["ann", "@others"] },
              "rules": [
                { "name": "a", "to": ["desktpo"] },
                { "name": "a", "drop": true },
                { "name": "b", "drop": true, "continue": true },
                { "name": "c", "when": { "knd": "like" }, "drop": true },
                { "name": "d", "when": { "actor": "@frends" }, "to": ["log"] },
                { "name": "e", "to": ["log"], "title": "{actr}" },
                { "name": "f", "to": ["log"], "limit": { "max": 0, "per": "1m" } },
                { "name": "g", "to": ["log"], "link": "ftp://a.example/" },
              ],
            }
            """)
        #expect(
            loaded.lines == [
                "r:2:33: lists.friends[1]: a list cannot hold another list; write its names here",
                #"r:4:27: rules[0].to[0]: there is no sink "desktpo"; did you mean "desktop"?"#,
                #"r:5:15: rules[1].name: the name "a" is taken by rules[0].name at 4:15"#,
                #"r:6:46: rules[2].continue: "continue" makes no sense beside "drop", which ends the matching"#,
                #"r:7:30: rules[3].when.knd: unknown key "knd"; did you mean "kind"?"#,
                #"r:8:39: rules[4].when.actor: there is no list "@frends"; did you mean "@friends"?"#,
                #"r:9:44: rules[5].title: unknown placeholder "{actr}"; did you mean "actor"?"#,
                "r:10:53: rules[6].limit.max: expected a whole number from 1 to 10000, found 0",
                "r:11:43: rules[7].link: a link begins with \"https://\" or \"http://\" as written",
            ])
        #expect(loaded.rules == nil)
    }

    @Test func brokenExpressionIsToldWithItsReason() throws {
        let line = try #require(
            load(file(rules: #"{"name": "a", "drop": true, "when": {"text": "/(a/"}}"#)).lines.first)
        #expect(line.hasPrefix("r:1:70: rules[0].when.text: the regular expression cannot be used: "))
        #expect(line.count > 90)
    }

    @Test func misspeltKindIsAWarningOnly() {
        let loaded = load(file(rules: #"{"name": "a", "drop": true, "when": {"kind": ["likes", "badge"]}}"#))
        #expect(
            loaded.lines == [#"r:1:71: warning: rules[0].when.kind[0]: an unusual kind "likes"; did you mean "like"?"#])
        #expect(loaded.rules != nil)
    }

    @Test func notesAreFreeEverywhere() {
        let text = """
            {"_a": 1, "lists": {"_note": "x", "l": ["a"]}, "rules": [
              {"x-id": 1, "name": "r", "_": [], "to": ["log"], "when": {"_why": "so", "actor": "@l"}}]}
            """
        let loaded = load(text)
        #expect(loaded.lines == [])
        #expect(loaded.rules?.outcome(event(actor: "A")) == "r>log")
    }

    @Test func longNamesAndValuesAreRefused() {
        let name = String(repeating: "é", count: 101)
        #expect(load(file(rules: "{\"name\": \"\(name)\", \"drop\": true}")).lines.count == 1)
        #expect(load(file(rules: "{\"name\": \"\(name.dropLast())\", \"drop\": true}")).lines == [])
        let value = String(repeating: "*a", count: 501)
        let lines = load(file(rules: "{\"name\": \"a\", \"drop\": true, \"when\": {\"actor\": \"\(value)\"}}")).lines
        #expect(lines == ["r:1:71: rules[0].when.actor: longer than 1000 characters"])
    }
}
