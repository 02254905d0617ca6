import GLibRuntime
import RelayCore
import Testing

@testable import RelayRules

/// `times`, `limit`, `digest`, `hold`, `repeat` and the keys of wording as they are read.
struct PolicyFileTests {
    /// The lines told of a file with such times and such members of a rule that goes to `log`.
    private func lines(times: String = "", _ members: String, drop: Bool = false) -> [String] {
        load(text(times: times, members, drop: drop)).lines
    }

    private func text(times: String = "", _ members: String, drop: Bool = false) -> String {
        let action = drop ? #""drop": true"# : #""to": ["log"]"#
        return "{\"times\": {\(times)},\n\"rules\": [{\"name\": \"r\", \(action)\n\(members)}]}"
    }

    @Test func everyKeyIsRead() throws {
        let loaded = load(
            text(
                times: #""night": {"from": "22:00", "to": "07:00", "days": ["mon", "sun"], "zone": "Europe/Berlin"}"#,
                """
                , "limit": {"max": 5, "per": "1m", "by": ["actor"], "excess": "drop"},
                "digest": {"by": ["actor", "post"], "window": "1h", "max": 50, "first": "now"}, "hold": "night",
                "repeat": {"by": ["actor", "kind"], "within": "10m"}, "zone": "Asia/Tokyo", "icon": "mail-unread",
                "urgency": "low"
                """))
        #expect(loaded.lines == [])
        let plan = try #require(loaded.rules).plan
        let policy = plan.policies[0]
        #expect(policy.rule == "r" && policy.sinks == [2] && policy.isStateful && policy.hold == "night")
        #expect(policy.limit == LimitPolicy(max: 5, per: .seconds(60), by: [.actor], excess: .drop))
        #expect(policy.repeat == RepeatPolicy(by: [.actor, .kind], within: .seconds(600)))
        let digest = try #require(policy.digest)
        #expect(digest.by == [.actor, .post] && digest.max == 50 && digest.sendsFirst)
        guard case .window(.seconds(3600)) = digest.timing else { return #expect(Bool(false)) }
        let night = try #require(plan.times["night"])
        #expect(night.from == 1320 && night.to == 420 && night.zone.name == "Europe/Berlin")
        #expect(night.days == [true, false, false, false, false, false, true])
    }

    @Test func whatIsLeftOutHasItsDefault() throws {
        let loaded = load(
            text(
                times: #""day": {"from": "00:00", "to": "24:00", "days": ["sat"]}"#,
                #", "limit": {"max": 1, "per": "1s"}, "digest": {"at": ["09:00", "18:30"]}"#))
        #expect(loaded.lines == [])
        let plan = try #require(loaded.rules).plan
        #expect(plan.policies[0].limit == LimitPolicy(max: 1, per: .seconds(1), by: [], excess: .digest))
        let digest = try #require(plan.policies[0].digest)
        #expect(digest.by == [] && digest.max == nil && !digest.sendsFirst)
        guard case .at(let times) = digest.timing else { return #expect(Bool(false)) }
        #expect(times.minutes == [540, 1110] && times.zone.name.isEmpty)
        #expect(plan.policies[0].hold == nil && plan.policies[0].repeat == nil)
        #expect(try #require(plan.times["day"]).to == 1440)
    }

    @Test func aRuleWithoutTheseKeysIsNotStateful() throws {
        let rules = try #require(load(text(#", "title": "x""#)).rules)
        #expect(!rules.plan.policies[0].isStateful)
        #expect(rules.plan.times.isEmpty && rules.plan.sinkNames == ["desktop", "team", "log"])
    }

    @Test(arguments: [
        Mistake(
            #""a": {"from": "25:00", "to": "07:00"}"#,
            #"r:1:26: times.a.from: "25:00" is no time of day; write it like "07:30" or "22:00""#),
        Mistake(
            #""a": {"from": "7:00", "to": "08:60"}"#,
            #"r:1:26: times.a.from: "7:00" is no time of day; write it like "07:30" or "22:00""#,
            #"r:1:40: times.a.to: "08:60" is no time of day; write it like "07:30" or "22:00""#),
        Mistake(
            #""a": {"from": "24:00", "to": "24:00"}"#,
            #"r:1:26: times.a.from: "24:00" is for "to" only; write "00:00""#),
        Mistake(
            #""a": {"from": "07:00", "to": "07:00"}"#,
            #"r:1:41: times.a.to: "from" and "to" are the same; a whole day is from "00:00" to "24:00""#),
        Mistake(
            #""a": {"from": "00:00", "to": "24:00"}"#,
            "r:1:17: times.a: is on for the whole week, and would never end; its uses can go instead"),
        Mistake(
            #""a": {"form": "00:00", "to": "01:00"}"#, #"r:1:17: times.a: the key "from" is missing"#,
            #"r:1:18: times.a.form: unknown key "form"; did you mean "from"?"#),
        Mistake(
            #""a": {"from": 7, "to": "01:00"}"#,
            #"r:1:26: times.a.from: expected a time of day such as "07:30", found a number"#),
        Mistake(
            #""a": {"from": "00:00", "to": "01:00", "zone": "Europe/Brelin"}"#,
            #"r:1:58: times.a.zone: there is no zone "Europe/Brelin"; did you mean "Europe/Berlin"?"#),
        Mistake(
            #""a": {"from": "00:00", "to": "01:00", "zone": "+02:00"}"#,
            #"r:1:58: times.a.zone: there is no zone "+02:00"; zones are named like "Europe/Berlin""#),
        Mistake(
            #""a": {"from": "00:00", "to": "01:00", "zone": "../../etc/passwd"}"#,
            #"r:1:58: times.a.zone: there is no zone "../../etc/passwd"; zones are named like "Europe/Berlin""#),
        Mistake(
            #""a": {"from": "00:00", "to": "01:00", "days": ["mon", "tues", "mon", "holiday"]}"#,
            #"r:1:66: times.a.days[1]: there is no day "tues"; did you mean "tue"?"#,
            #"r:1:74: times.a.days[2]: the day "mon" stands twice"#,
            #"r:1:81: times.a.days[3]: there is no day "holiday"; days are mon tue wed thu fri sat sun"#),
        Mistake(
            #""a": {"from": "00:00", "to": "01:00", "days": []}"#, "r:1:58: times.a.days: names no day"),
        Mistake(
            #""a": {"from": "00:00", "to": "01:00", "days": "mon"}"#,
            #"r:1:58: times.a.days: expected an array of days such as ["mon", "fri"], found a string"#),
        Mistake(#""a": "night""#, "r:1:17: times.a: expected an object, found a string"),
        Mistake(
            #""": {"from": "00:00", "to": "01:00"}"#,
            #"r:1:12: times[""]: a name has 1 to 64 characters and no control characters"#),
    ])
    func mistakeInATimeIsTold(_ mistake: Mistake) {
        #expect(lines(times: mistake.text, "") == mistake.lines)
    }

    @Test(arguments: [
        Mistake(
            #", "limit": {"max": 0, "per": "32d", "by": ["acter"], "excess": "dgest"}"#,
            "r:3:20: rules[0].limit.max: expected a whole number from 1 to 10000, found 0",
            "r:3:30: rules[0].limit.per: must be from 1s to 31d",
            #"r:3:44: rules[0].limit.by[0]: there is no field "acter"; did you mean "actor"?"#,
            #"r:3:64: rules[0].limit.excess: there is no excess "dgest"; did you mean "digest"?"#),
        Mistake(
            #", "limit": {"by": ["actor", "actor"]}"#, #"r:3:12: rules[0].limit: the key "max" is missing"#,
            #"r:3:12: rules[0].limit: the key "per" is missing"#,
            #"r:3:29: rules[0].limit.by[1]: the field "actor" stands twice"#),
        Mistake(
            #", "limit": {"max": 1, "per": "1m", "excess": "queue"}"#,
            #"r:3:46: rules[0].limit.excess: there is no excess "queue"; it is "drop" or "digest""#),
        Mistake(#", "digest": {}"#, #"r:3:13: rules[0].digest: a digest has "window" or "at"; here is neither"#),
        Mistake(
            #", "digest": {"window": "1h", "at": ["09:00"]}"#,
            #"r:3:13: rules[0].digest: a digest has "window" or "at"; here are both"#),
        Mistake(
            #", "digest": {"at": ["24:00", "09:00", "09:00"]}"#,
            #"r:3:21: rules[0].digest.at[0]: "24:00" is for "to" only; write "00:00""#,
            "r:3:39: rules[0].digest.at[2]: this time of day stands twice"),
        Mistake(#", "digest": {"at": []}"#, "r:3:20: rules[0].digest.at: names no time of day"),
        Mistake(
            #", "digest": {"at": "09:00"}"#,
            #"r:3:20: rules[0].digest.at: expected an array of times of day such as ["09:00", "18:00"], found a string"#
        ),
        Mistake(
            #", "digest": {"window": "1h", "zone": "UTC"}"#,
            #"r:3:38: rules[0].digest.zone: "zone" goes with "at""#),
        Mistake(
            #", "digest": {"window": "1h", "first": "later", "max": 10001, "by": []}"#,
            #"r:3:39: rules[0].digest.first: expected "now", found "later""#,
            "r:3:55: rules[0].digest.max: expected a whole number from 1 to 10000, found 10001",
            "r:3:68: rules[0].digest.by: names no field"),
        Mistake(
            #", "digest": {"by": ["post"], "window": "1h"}, "limit": {"max": 1, "per": "1m", "by": ["post", "actor"]}"#,
            #"r:3:95: rules[0].limit.by[1]: "actor" is not in the "by" of "digest"; "#
                + "a digest could then not tell to which limit it counts"),
        Mistake(
            #", "repeat": {"by": "actor"}"#, #"r:3:13: rules[0].repeat: the key "within" is missing"#,
            #"r:3:20: rules[0].repeat.by: expected an array such as ["actor", "post"], found a string"#),
        Mistake(#", "hold": "nihgt""#, #"r:3:11: rules[0].hold: there is no time "nihgt"; did you mean "night"?"#),
        Mistake(#", "hold": true"#, "r:3:11: rules[0].hold: expected the name of a time, found a boolean"),
        Mistake(#", "zone": "UCT1""#, #"r:3:11: rules[0].zone: there is no zone "UCT1"; did you mean "UCT"?"#),
        Mistake(#", "icon": "{actor}""#, "r:3:11: rules[0].icon: an icon takes no placeholders"),
        Mistake(#", "icon": """#, "r:3:11: rules[0].icon: an icon has 1 to 1000 characters and no control characters"),
        Mistake(
            #", "urgency": "{kind""#, #"r:3:14: rules[0].urgency: a "{" without its "}"; write "{{" for a brace"#),
        Mistake(
            #", "urgency": "{{low""#,
            #"r:3:14: rules[0].urgency: there is no urgency "{{low"; did you mean "low"?"#),
        Mistake(
            #", "when": {"time": ["nigt", "night"]}"#,
            #"r:3:21: rules[0].when.time[0]: there is no time "nigt"; did you mean "night"?"#),
        Mistake(#", "when": {"time": []}"#, "r:3:20: rules[0].when.time: an empty array matches nothing"),
    ])
    func mistakeInARuleIsTold(_ mistake: Mistake) {
        #expect(lines(times: #""night": {"from": "22:00", "to": "07:00"}"#, mistake.text) == mistake.lines)
    }

    @Test(arguments: ["limit", "digest", "hold", "repeat"])
    func theseMakeNoSenseBesideDrop(_ key: String) {
        let values = [
            "limit": #"{"max": 1, "per": "1m"}"#, "digest": #"{"window": "1h"}"#, "hold": #""night""#,
            "repeat": #"{"by": ["actor"], "within": "1m"}"#,
        ]
        let lines = lines(
            times: #""night": {"from": "22:00", "to": "07:00"}"#, ", \"\(key)\": \(values[key] ?? "")", drop: true)
        #expect(lines.count == 1)
        #expect(
            lines.first?.hasSuffix(
                " rules[0].\(key): \"\(key)\" makes no sense beside \"drop\", which delivers nothing")
                == true)
    }

    @Test func aTimeWithFaultsIsThereForItsUsers() {
        let lines = lines(times: #""night": {"from": "22:00"}"#, #", "hold": "night", "when": {"time": "night"}"#)
        #expect(lines == [#"r:1:21: times.night: the key "to" is missing"#])
    }

    @Test func moreTimesThanBitsAreRefused() {
        let times = (0..<65).map { "\"t\($0)\": {\"from\": \"01:00\", \"to\": \"02:00\"}" }.joined(separator: ", ")
        #expect(lines(times: times, "") == ["r:1:11: times: has more than 64 times"])
    }

    @Test func aMissingZoneTableIsTold() {
        let problems = Problems()
        let node = ConfigurationNode(.string("Europe/Berlin"), at: Position(line: 1, column: 2), path: "zone")
        let reader = ZoneReader { ZoneTable.look(up: $0, in: "/nonexistent") }
        #expect(reader.read(node, problems) == nil)
        #expect(
            problems.all.map(\.message) == [
                #"the zone "Europe/Berlin" cannot be looked up: this system has no zone table; install tzdata"#
            ])
    }
}
