import RelayCore
import RelayJournal
import RelayTestKit
import Testing

extension JournalContract {
    static let keys: [Case] = [
        Case("an event whose delivery is held is a duplicate, and never charged") { make in
            let limit = LimitPolicy(max: 2, per: .seconds(60), excess: .drop)
            let story = try await Story(make, [EffectPolicy(rule: "r", limit: limit)])
            #expect(try await story.offer("a", at: 0) == .stored)
            #expect(try await story.offer("a", at: 1) == .suppressed(.duplicate))
            #expect(try await story.offer("a", sink: 1, at: 1) == .stored)
            #expect(try await story.offer("b", at: 2) == .stored)
            #expect(await story.delivered() == ["a", "b"])
            #expect(await story.journal.receipts().map(\.receipt) == [.duplicate])
        },
        Case("two events of one commit with one key are one delivery") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r")])
            let intakes = ["a", "a"].map {
                Intake(event: Fixtures.event(id: $0), effects: [Effect(rule: 0, sink: 0, action: .deliver)])
            }
            let acceptances = try await story.journal.accept(intakes, at: Story.moment(0))
            #expect(acceptances == [[.stored], [.suppressed(.duplicate)]])
        },
        Case("all effects of an event have an acceptance each, in their order") { make in
            let digest = DigestPolicy(timing: .window(.seconds(60)))
            let story = try await Story(make, [EffectPolicy(rule: "r"), EffectPolicy(rule: "s", digest: digest)])
            let effects = [(0, 1), (1, 0)].map { Effect(rule: $0, sink: $1, action: .deliver) }
            let intake = Intake(event: Fixtures.event(id: "a"), effects: effects)
            let acceptances = try await story.journal.accept([intake], at: Story.moment(0))
            #expect(acceptances == [[.stored, until(60)]])
        },
    ]

    static let silences: [Case] = [
        Case("a silence covers what was accepted after it, until its end by the wall clock") { make in
            let digest = DigestPolicy(timing: .window(.seconds(1000)))
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: digest), EffectPolicy(rule: "s")])
            _ = try await story.offer("before", at: 0)
            let matcher = Silence.Matcher(actor: "ANN")
            let silence = try await story.journal.addSilence(
                matcher, until: Story.instant(100), at: Story.moment(0))
            #expect(silence == Silence(id: 1, matcher: matcher, until: Story.instant(100)))
            #expect(try await story.offer("a", at: 1) == .suppressed(.silenced))
            #expect(try await story.offer("b", rule: 1, at: 2) == .suppressed(.silenced))
            #expect(try await story.offer("c", actor: "bo", rule: 1, at: 2) == .stored)
            #expect(try await story.offer("d", rule: 1, at: 99_999, wall: 99.999) == .suppressed(.silenced))
            #expect(await story.journal.silences(at: Story.moment(0, wall: 99.999)) == [silence])
            #expect(try await story.offer("e", rule: 1, at: 99_999, wall: 100) == .stored)
            #expect(await story.journal.silences(at: Story.moment(0, wall: 100)) == [])
            // What had been gathered goes out; what was silenced stays so.
            #expect(await story.delivered() == ["c", "before", "e"])
            #expect(await story.receipts(.silenced) == 3)
        },
        Case("a silence comes before all that is charged or remembered") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(60), excess: .drop)
            let policy = RepeatPolicy(by: [.actor], within: .seconds(60))
            let story = try await Story(make, [EffectPolicy(rule: "r", repeat: policy, limit: limit)])
            let silence = try await story.journal.addSilence(
                Silence.Matcher(kind: "like", sink: "sink"), until: Story.instant(50), at: Story.moment(0))
            #expect(try await story.offer("a", at: 1) == .suppressed(.silenced))
            #expect(await story.journal.removeSilence(silence.id, at: Story.moment(2)))
            #expect(await !story.journal.removeSilence(silence.id, at: Story.moment(2)))
            #expect(try await story.offer("b", at: 3) == .stored)
        },
        Case("a silence that says nothing, is over, or is one too many is refused") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r")])
            let journal = story.journal
            await #expect(throws: SilenceFault.empty) {
                try await journal.addSilence(Silence.Matcher(), until: Story.instant(9), at: Story.moment(0))
            }
            await #expect(throws: SilenceFault.over) {
                try await journal.addSilence(
                    Silence.Matcher(kind: "like"), until: Story.instant(9), at: Story.moment(0, wall: 9))
            }
            for number in 0..<Silence.most {
                let silence = try await journal.addSilence(
                    Silence.Matcher(kind: "k\(number)"), until: Story.instant(9), at: Story.moment(0))
                #expect(silence.id == UInt64(number + 1))
            }
            await #expect(throws: SilenceFault.tooMany) {
                try await journal.addSilence(Silence.Matcher(kind: "x"), until: Story.instant(9), at: Story.moment(0))
            }
            // Those that ended make room, and their ids are not used again.
            let next = try await journal.addSilence(
                Silence.Matcher(kind: "x"), until: Story.instant(99), at: Story.moment(9))
            #expect(next.id == UInt64(Silence.most + 1))
            #expect(await journal.silences(at: Story.moment(9)) == [next])
        },
    ]
}
