import Glibc
import RelayCore
import Testing

@testable import RelayRules

/// What many rules and bad patterns cost.
@Suite(.serialized)
struct RuleSpeedTests {
    private func rules(_ count: Int) throws -> RuleSet {
        let texts = (0..<count).map { number in
            number % 2 == 0
                ? "{\"name\": \"r\(number)\", \"when\": {\"actor\": \"user\(number)\"}, \"to\": [\"log\"]}"
                : "{\"name\": \"r\(number)\", \"when\": {\"kind\": \"kind\(number)\"}, \"to\": [\"log\"]}"
        }
        return try #require(load(file(rules: texts.joined(separator: ","))).rules)
    }

    /// The CPU time of this thread for deciding some events, in nanoseconds: the least of several runs.
    private func cost(_ set: RuleSet, _ events: [Event]) -> Int {
        var effects: [Effect] = []
        let wall = Instant(milliseconds: 0)
        return (0..<7).map { _ in
            let start = Self.cpuTime()
            for _ in 0..<20 {
                for event in events {
                    effects.removeAll(keepingCapacity: true)
                    set.decide(event, at: wall, into: &effects)
                }
            }
            return Self.cpuTime() - start
        }.min() ?? 0
    }

    private static func cpuTime() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    @Test func tenThousandRulesCostAtMostTwiceWhatTenDo() throws {
        let events = (0..<500).map { event(kind: "kind\($0 % 10)", actor: "user\($0 % 10)") }
        let ratio = Double(cost(try rules(10_000), events)) / Double(max(cost(try rules(10), events), 1))
        #expect(ratio <= 2, "10 000 rules cost \(ratio) times what 10 do")
    }

    /// The limit of steps is what bounds the time, so that is what is seen here.
    @Test func aCatastrophicPatternGivesUpAtItsLimit() throws {
        let rules = try #require(
            load(
                file(
                    rules: #"{"name": "r", "when": {"text": "/^(a+)+$/"}, "to": ["log"]}, {"name": "z", "to": ["log"]}"#
                )
            ).rules)
        let text = "!" + String(repeating: "a", count: 50_000)
        let start = Self.cpuTime()
        #expect(rules.outcome(event(kind: "comment", text: String(repeating: "a", count: 10_000) + text)) == "z>log")
        #expect(rules.patternOverruns == [1, 0])
        // Ten times what it may cost, so that only a missing limit fails here.
        #expect(Self.cpuTime() - start < 100_000_000)
    }

    /// A name in any case and composition matches the same rule, and is shown as it was sent.
    @Test(arguments: ["Zoë", "ZOE\u{308}", "zoe\u{308}", "zOË"])
    func namesCompareFoldedAndAreShownAsSent(_ name: String) throws {
        for written in ["zoë", "Zoe\u{308}", "*Ë", "zo?"] {
            let rules = try #require(
                load(file(rules: "{\"name\": \"r\", \"when\": {\"actor\": \"\(written)\"}, \"to\": [\"log\"]}")).rules)
            #expect(rules.outcome(event(actor: name)) == "r>log")
            let title = rules.notice(event(actor: name)).title.utf8
            #expect(title == Array("\(name) liked your post".utf8))
        }
    }
}
