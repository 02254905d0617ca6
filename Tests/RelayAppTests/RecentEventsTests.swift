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

    /// A read of events, received at the first one's number.
    private func read(_ numbers: Range<Int>, text: String? = nil) -> EventBatch {
        var batch = EventBatch(stream: "chirp")
        for number in numbers { batch.append(Fixtures.event(id: "e\(number)", text: text)) }
        return batch
    }

    private func add(
        _ numbers: Range<Int>, to recent: inout RecentEvents, inReadsOf count: Int = 1, text: String? = nil,
        except exceptions: RecentEvents.Exceptions = .init()
    ) {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: count) {
            let read = read(start..<min(start + count, numbers.upperBound), text: text)
            recent.add(read, except: exceptions, at: Instant(milliseconds: Int64(start)))
        }
    }

    private func told(_ number: Int, _ recent: RecentEvents, _ rules: RuleSet) -> [String] {
        let id = Fixtures.event(id: "e\(number)").record.identity
        return recent.stories(of: id, by: rules).map { story in
            "\(story.receivedAt.milliseconds): "
                + story.effects.map { "\($0.rule) \($0.sink) \($0.outcome.rawValue)" }.joined(separator: ", ")
        }
    }

    @Test(arguments: [1, 7, 64, 999, 1000, 5000]) func theLastThousandAreKept(inReadsOf size: Int) throws {
        let all = try rules(#"{"name": "all", "to": ["out"]}"#)
        var recent = RecentEvents()
        let count = 3 * RecentEvents.most + 7
        add(0..<count, to: &recent, inReadsOf: size)
        let first = count - RecentEvents.most
        for number in [first, first + 1, count - 1] {
            #expect(told(number, recent, all) == ["\(number / size * size): all out passed"])
        }
        // Whole reads are kept.
        if size < count { #expect(told(first - size - 1, recent, all) == []) }
    }

    @Test func largeEventsTakeABoundedRoom() throws {
        let all = try rules(#"{"name": "all", "to": ["out"]}"#)
        var recent = RecentEvents()
        add(0..<30, to: &recent, text: String(repeating: "x", count: RecentEvents.mostBytes / 10))
        #expect((0..<30).filter { told($0, recent, all) != [] } == Array(21..<30))
        // The last one is kept however large it is.
        add(30..<31, to: &recent, text: String(repeating: "x", count: 2 * RecentEvents.mostBytes))
        #expect((0..<31).filter { told($0, recent, all) != [] } == [30])
    }

    @Test func theSameIDIsToldOldestFirst() throws {
        let all = try rules(#"{"name": "all", "to": ["out"]}"#)
        var recent = RecentEvents()
        for time in [5, 7, 6] {
            recent.add(read(1..<2), except: .init(), at: Instant(milliseconds: Int64(time)))
        }
        #expect(told(1, recent, all).map { $0.prefix(2) } == ["5:", "7:", "6:"])
    }

    @Test func whatTheJournalHasAndWhatWasSilencedIsKnown() throws {
        let two = try rules(#"{"name": "a", "to": ["out"]}"#)
        var recent = RecentEvents()
        add(0..<3, to: &recent, inReadsOf: 3, except: .init(recorded: [0], silenced: [1: 1]))
        #expect((0..<3).map { told($0, recent, two) } == [[], ["0: a out suppressed"], ["0: a out passed"]])
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
