import RelayCore
import Testing

@testable import RelayRules

/// Conditions on values of the event as it came, and on times.
struct FieldConditionTests {
    private static let raw = #"""
        {"user": {"name": "Zoë \u0041", "verified": true, "followers": 9007199254740993, "id": "42"},
         "score": 1.50, "tags": ["a", "b"], "nothing": null, "nested": {"a~/b": "x"}}
        """#

    @Test(arguments: [
        (#"{"/user/verified": {"equals": true}}"#, true), (#"{"/user/verified": {"equals": false}}"#, false),
        (#"{"/user/name": {"equals": "Zoë A"}}"#, true), (#"{"/user/name": {"equals": "zoë a"}}"#, false),
        (#"{"/user/name": {"equals": ["x", "Zoë A"]}}"#, true), (#"{"/user/id": {"equals": 42}}"#, false),
        (#"{"/score": {"equals": 1.5}}"#, true), (#"{"/score": {"equals": 15e-1}}"#, true),
        (#"{"/user/followers": {"equals": 9007199254740992}}"#, false),
        (#"{"/user/followers": {"above": 9007199254740992}}"#, true),
        (#"{"/user/followers": {"below": 9007199254740993}}"#, false),
        (#"{"/score": {"above": 1, "below": 2}}"#, true), (#"{"/score": {"above": 1.5}}"#, false),
        (#"{"/user/id": {"above": 1}}"#, false), (#"{"/nothing": {"equals": null}}"#, true),
        (#"{"/nothing": {"exists": true}}"#, true), (#"{"/nowhere": {"exists": true}}"#, false),
        (#"{"/nowhere": {"exists": false}}"#, true), (#"{"/nowhere": {"equals": null}}"#, false),
        (#"{"/user": {"exists": true}}"#, true), (#"{"/user": {"matches": "*"}}"#, false),
        (#"{"/tags/1": {"equals": "b"}}"#, true), (#"{"/tags/2": {"exists": true}}"#, false),
        (#"{"/user/name": {"matches": "zoë*"}}"#, true), (#"{"/user/name": {"matches": "ZOE\u0308 a"}}"#, true),
        (#"{"/user/name": {"matches": "/^Zo. A$/"}}"#, true), (#"{"/user/name": {"matches": "/^zo/"}}"#, false),
        (#"{"/user/name": {"matches": "@names"}}"#, true), (#"{"/user/id": {"matches": ["x", "4?"]}}"#, true),
        (#"{"/user/followers": {"matches": "9007*"}}"#, true), (#"{"/user/verified": {"matches": "true"}}"#, true),
        (#"{"/nested/a~0~1b": {"equals": "x"}}"#, true),
        (#"{"/user/verified": {"equals": true}, "/score": {"above": 2}}"#, false),
        (#"{"/user/verified": {"equals": true}, "/score": {"above": 1}}"#, true),
    ])
    func valueOfTheEventIsTested(_ field: String, _ holds: Bool) throws {
        let loaded = load(
            file(
                rules: "{\"name\": \"r\", \"when\": {\"field\": \(field)}, \"to\": [\"log\"]}",
                lists: #"{"names": ["ZOË *"]}"#))
        #expect(loaded.lines == [])
        let rules = try #require(loaded.rules)
        #expect(rules.outcome(event(raw: Self.raw)) == (holds ? "r>log" : "unmatched"))
    }

    @Test func anEventThatIsNoJSONHasNoValues() throws {
        let rules = try #require(
            load(file(rules: #"{"name": "r", "when": {"field": {"/a": {"exists": false}}}, "to": ["log"]}"#)).rules)
        #expect(rules.outcome(event()) == "r>log")
        #expect(rules.outcome(event(raw: #"{"a": 1}"#)) == "unmatched")
    }

    @Test(arguments: [
        Mistake(
            #"3"#,
            #"r:2:20: rules[0].when.field: expected an object such as {"/user/verified": {"equals": true}}, found a number"#
        ),
        Mistake(#"{}"#, #"r:2:20: rules[0].when.field: names no value, such as "/user/verified""#),
        Mistake(
            #"{"user": {"exists": true}}"#,
            #"r:2:29: rules[0].when.field.user: "user" is no JSON Pointer, which begins with "/"; did you mean "/user"?"#
        ),
        Mistake(#"{"/a": true}"#, #"r:2:27: rules[0].when.field["/a"]: expected an object, found a boolean"#),
        Mistake(
            #"{"/a": {}}"#,
            #"r:2:27: rules[0].when.field["/a"]: asks nothing; a value has "equals", "matches", "exists", "above" or "below""#
        ),
        Mistake(
            #"{"/a": {"equal": 1}}"#,
            #"r:2:28: rules[0].when.field["/a"].equal: unknown key "equal"; did you mean "equals"?"#),
        Mistake(
            #"{"/a": {"equals": [], "above": "1", "exists": 1}}"#,
            #"r:2:38: rules[0].when.field["/a"].equals: an empty array equals nothing"#,
            #"r:2:51: rules[0].when.field["/a"].above: expected a number, found a string"#,
            #"r:2:66: rules[0].when.field["/a"].exists: expected true or false, found a number"#),
        Mistake(
            #"{"/a": {"equals": [[1]], "matches": "@nams"}}"#,
            #"r:2:39: rules[0].when.field["/a"].equals[0]: expected a string, a number, true, false or null, found an array"#,
            #"r:2:56: rules[0].when.field["/a"].matches: there is no list "@nams"; did you mean "@names"?"#),
    ])
    func mistakeIsTold(_ mistake: Mistake) {
        let text =
            "{\"lists\": {\"names\": [\"a\"]}, \"rules\": [{\"name\": \"r\", \"to\": [\"log\"],\n"
            + " \"when\": {\"field\": \(mistake.text)}}]}"
        #expect(load(text).lines == mistake.lines)
    }

    // MARK: Times

    private static let night = #"""
        {"times": {"night": {"from": "22:00", "to": "07:00", "zone": "Europe/Berlin"},
                   "noon": {"from": "12:00", "to": "13:00", "zone": "Europe/Berlin", "days": ["sun"]}},
         "rules": [{"name": "n", "when": {"time": "night"}, "to": ["log"]},
                   {"name": "x", "when": {"time": ["noon", "night"]}, "to": ["team"]},
                   {"name": "d", "when": {"not": {"time": "night"}}, "to": ["desktop"]}]}
        """#

    @Test(arguments: [
        ("2026-03-28T20:59:59Z", "d>desktop"), ("2026-03-28T21:00:00Z", "n>log"), ("2026-03-29T04:59:59Z", "n>log"),
        // In the night before, summer time has begun.
        ("2026-03-29T05:00:00Z", "d>desktop"), ("2026-03-29T10:30:00Z", "x>team"),
        ("2026-03-29T11:00:00Z", "d>desktop"),
        ("2026-03-30T10:30:00Z", "d>desktop"), ("2026-03-28T21:00:00Z", "n>log"),
    ])
    func theWallClockDecidesOnTimes(_ time: String, _ expected: String) throws {
        let rules = try #require(load(Self.night).rules)
        let parsed = TimestampText.parse(Array(time.utf8).span.bytes)
        let instant = try #require(parsed)
        // A memory of another moment must not count.
        for other in [0, 4_000_000_000_000, 1_774_739_000_000] as [Int64] {
            _ = rules.outcome(event(), at: Instant(milliseconds: other))
            #expect(rules.outcome(event(), at: instant) == expected)
        }
    }

    @Test func rememberedStatesEqualFreshOnes() throws {
        let rules = try #require(load(Self.night).rules)
        for seed in 0..<1000 as Range<UInt64> {
            var random = SplitMix(seed)
            var now = Int64.random(in: 1_700_000_000_000...1_900_000_000_000, using: &random)
            for _ in 0..<5 {
                now += Int64.random(in: -40_000_000...40_000_000, using: &random)
                let wall = Instant(milliseconds: now)
                let night = try #require(rules.times["night"]).state(at: wall).isOn
                let noon = try #require(rules.times["noon"]).state(at: wall).isOn
                let expected = night ? "n>log" : noon ? "x>team" : "d>desktop"
                #expect(rules.outcome(event(), at: wall) == expected, "seed \(seed)")
            }
        }
    }
}
