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
}
