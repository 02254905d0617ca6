import RelayCore
import RelayTestKit
import Testing

struct SilenceBookTests {
    private let now = Instant(milliseconds: 1_900_000_000_000)

    private func covers(_ matcher: Silence.Matcher, _ event: Event) throws -> Bool {
        var book = SilenceBook()
        _ = try book.add(matcher, until: now + .seconds(1), at: now)
        return book.covers(event, rule: "rule", sink: "sink", at: now)
    }

    @Test(arguments: [
        (Silence.Matcher(kind: "like"), true), (Silence.Matcher(kind: "Like"), false),
        (Silence.Matcher(actor: "ZOE\u{301}"), true), (Silence.Matcher(actor: "zoe"), false),
        (Silence.Matcher(post: "aaaaaaaa-1111-4111-8111-111111111111"), true), (Silence.Matcher(post: "p"), false),
        (Silence.Matcher(rule: "rule"), true), (Silence.Matcher(rule: "Rule"), false),
        (Silence.Matcher(sink: "sink"), true), (Silence.Matcher(sink: "other"), false),
        (Silence.Matcher(stream: "chirp"), true), (Silence.Matcher(stream: "CHIRP"), false),
        (Silence.Matcher(kind: "like", sink: "sink"), true), (Silence.Matcher(kind: "like", sink: "other"), false),
    ])
    func aSilenceComparesAsConditionsDo(_ matcher: Silence.Matcher, _ isCovered: Bool) throws {
        let event = Fixtures.event(actor: "Zo\u{e9}", post: "AAAAAAAA-1111-4111-8111-111111111111")
        #expect(try covers(matcher, event) == isCovered)
    }

    @Test func whatIsAbsentIsNotCovered() throws {
        #expect(try !covers(Silence.Matcher(actor: ""), Fixtures.event(actor: nil)))
        #expect(try !covers(Silence.Matcher(post: ""), Fixtures.event(post: nil)))
    }

    @Test func aCopyMadeOfItsSilencesCoversTheSame() throws {
        var book = SilenceBook()
        let silence = try book.add(Silence.Matcher(actor: "Ann"), until: now + .seconds(5), at: now)
        let copy = SilenceBook(book.silences)
        #expect(copy.covers(Fixtures.event(actor: "ann"), rule: "r", sink: "s", at: now + .seconds(4)))
        #expect(!copy.covers(Fixtures.event(actor: "ann"), rule: "r", sink: "s", at: now + .seconds(5)))
        #expect(copy.silences == [silence] && !copy.isEmpty && SilenceBook().isEmpty)
    }

    // MARK: Many of them

    /// Asks how long an event takes with so many silences, each of its own actor and post, none of which covers it.
    private func cost(_ count: Int, _ matcher: (Int) -> Silence.Matcher) -> Duration {
        let silences = (0..<count).map { number in
            Silence(id: UInt64(number + 1), matcher: matcher(number), until: now + .seconds(9))
        }
        let book = SilenceBook(silences)
        let event = Fixtures.event(actor: "nobody", post: "none")
        let clock = ContinuousClock()
        return (0..<5).map { _ in
            clock.measure {
                for _ in 0..<1000 where book.covers(event, rule: "rule", sink: "sink", at: now) {
                    Issue.record("covered")
                }
            }
        }.min() ?? .zero
    }

    @Test func aThousandCostAboutWhatTenDo() {
        let matchers: [(Int) -> Silence.Matcher] = [
            { Silence.Matcher(actor: "actor \($0)", sink: "sink") },
            { Silence.Matcher(kind: "like", post: "post \($0)") },
            { Silence.Matcher(kind: "like", rule: "rule \($0)") },
            { Silence.Matcher(actor: "nobody", post: "post \($0)") },
        ]
        for matcher in matchers {
            let (few, many) = (cost(10, matcher), cost(Silence.most, matcher))
            print("an event with \(Silence.most) silences: \(many / 1000), with 10: \(few / 1000)")
            #expect(many < few * 5 + .milliseconds(1))
        }
    }

    /// The index says what asking every silence says.
    @Test func anyMixCoversWhatOneOfThemCovers() throws {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            func pick(_ values: [String]) -> String? {
                Bool.random(using: &random) ? values.randomElement(using: &random) : nil
            }
            let names = ["ann", "BO", "cy\u{301}"]
            var book = SilenceBook()
            var kept: [Silence] = []
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let matcher = Silence.Matcher(
                    kind: pick(["like", "follow"]), actor: pick(names), post: pick(["p", "q"]), rule: pick(["r", "s"]),
                    sink: pick(["x", "y"]), stream: pick(["chirp", "other"]))
                guard let silence = try? book.add(matcher, until: now + .seconds(1), at: now) else { continue }
                if Int.random(in: 0..<4, using: &random) == 0 {
                    let wasThere = book.remove(silence.id, at: now)
                    #expect(wasThere)
                } else {
                    kept.append(silence)
                }
            }
            for _ in 0..<20 {
                let event = Fixtures.event(
                    kind: "like", actor: pick(["Ann", "bo", "dan"]), post: pick(["p", "q"]),
                    stream: pick(["other"]) ?? "chirp")
                let (rule, sink) = (pick(["s"]) ?? "r", pick(["y"]) ?? "x")
                let isCovered = kept.contains { silence in
                    SilenceBook([silence]).covers(event, rule: rule, sink: sink, at: now)
                }
                #expect(book.covers(event, rule: rule, sink: sink, at: now) == isCovered, "seed \(seed)")
            }
        }
    }
}
