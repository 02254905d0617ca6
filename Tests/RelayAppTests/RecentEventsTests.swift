import GLibRuntime
import RelayCore
import RelayJournal
import RelayRules
import RelayTestKit
import Testing

@testable import RelayApp

/// What is kept of events of which nothing was recorded.
@MainLoop
struct RecentEventsTests {
    private func rules(_ rules: String) throws -> RuleSet {
        let text = Rules.text("ws://127.0.0.1:9/", sinks: Rules.stdout, rules: rules)
        let problems = Problems()
        return try #require(RelayConfiguration.read(Array(text.utf8), problems: problems)).rules
    }

    private func add(
        _ numbers: Range<Int>, to recent: inout RecentEvents, silenced: UInt64 = 0, isOneOfMany: Bool = false
    ) {
        for number in numbers {
            recent.add(
                Fixtures.event(id: "e\(number)"), at: Instant(milliseconds: Int64(number)), silenced: silenced,
                isOneOfMany: isOneOfMany)
        }
    }

    private func told(_ number: Int, _ recent: RecentEvents, _ rules: RuleSet) -> [String] {
        let id = Fixtures.event(id: "e\(number)").record.identity
        return recent.stories(of: id, by: rules).map { story in
            "\(story.receivedAt.milliseconds): "
                + story.effects.map { "\($0.rule) \($0.sink) \($0.outcome.rawValue)" }.joined(separator: ", ")
        }
    }

    @Test(arguments: [false, true]) func theLastThousandAreKept(isOneOfMany: Bool) throws {
        let all = try rules(#"{"name": "all", "to": ["out"]}"#)
        var recent = RecentEvents()
        let count = 2 * RecentEvents.most + 7
        add(0..<count, to: &recent, isOneOfMany: isOneOfMany)
        let first = count - RecentEvents.most
        #expect(told(first - 1, recent, all) == [])
        for number in [first, first + 1, count - 1] {
            #expect(told(number, recent, all) == ["\(number): all out passed"])
        }
    }

    @Test func theSameIDIsToldOldestFirst() throws {
        let all = try rules(#"{"name": "all", "to": ["out"]}"#)
        var recent = RecentEvents()
        for time in [5, 7, 6] {
            recent.add(
                Fixtures.event(id: "e1"), at: Instant(milliseconds: Int64(time)), silenced: 0, isOneOfMany: false)
        }
        #expect(told(1, recent, all).map { $0.prefix(2) } == ["5:", "7:", "6:"])
    }

    @Test func whatWasSilencedIsToldSo() throws {
        let two = try rules(#"{"name": "a", "to": ["out"]}"#)
        var recent = RecentEvents()
        add(1..<2, to: &recent, silenced: 1)
        #expect(told(1, recent, two) == ["1: a out suppressed"])
    }

    @Test func aReloadChangesNothingOfWhatWasDecided() throws {
        let (all, none) = (try rules(#"{"name": "all", "to": ["out"]}"#), try rules(#"{"name": "no", "drop": true}"#))
        var recent = RecentEvents()
        add(0..<5, to: &recent)
        recent.close(by: all)
        add(5..<8, to: &recent)
        #expect(told(4, recent, none) == ["4: all out passed"])
        #expect(told(5, recent, none) == ["5: no - suppressed"])
        // As many later ones as are kept leave none of the earlier.
        add(8..<(6 + RecentEvents.most), to: &recent)
        #expect(told(4, recent, none) == [] && told(5, recent, none) == [])
        #expect(told(6, recent, none) == ["6: no - suppressed"])
    }
}
