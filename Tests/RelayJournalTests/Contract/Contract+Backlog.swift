import RelayCore
import RelayJournal
import RelayTestKit
import Testing

extension Story {
    /// Offers so many events, numbered from `first`, with what else `offer` takes.
    fileprivate func offer(
        _ range: Range<Int>, post: (Int) -> String? = { _ in nil }, rule: Int = 0, at seconds: Double
    ) async throws {
        let intakes = range.map { number in
            let event = Fixtures.event(id: "e\(number)", post: post(number), at: Self.instant(seconds))
            return Intake(event: event, effects: [Effect(rule: rule, sink: 0, action: .deliver)])
        }
        _ = try await journal.accept(intakes, at: Self.moment(seconds))
        await checkCounters()
    }
}

extension JournalContract {
    private static let desktop = BacklogPolicy(count: 5, age: .zero)

    static let backlogs: [Case] = [
        Case("over fifty that wait for five minutes become one digest, which counts all of them") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r")])
            try await story.offer(0..<51, at: 0)
            let before = await story.counters()
            let batch = await story.claim(backlog: BacklogPolicy(), at: 300)
            #expect(batch.folds == [ClaimBatch.Fold(rule: "r", deliveries: 51, digests: 1)])
            #expect(batch.titles == ["51"])
            let claim = try #require(batch.claims.first)
            guard case .digest(let summary) = claim.delivery.content else { throw WrongContent() }
            #expect(summary.count == 51 && summary.events.map(\.string) == (0..<51).map { "e\($0)" })
            #expect((summary.first, summary.last) == (Story.instant(0), Story.instant(0)))
            #expect(await story.counters() == before)
            await story.settle(batch.claims, .delivered, at: 301)
            let counters = await story.counters()
            #expect((counters.effects, counters.delivered, counters.pending) == (51, 51, 0))
        },
        Case("fifty go alone, and so do more that are younger") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r")])
            try await story.offer(0..<50, at: 0)
            try await story.offer(50..<90, at: 1)
            #expect(await story.claim(1, backlog: BacklogPolicy(), at: 300.999).titles == ["e0"])
            // That one is attempted, so fifty and not 51 of the others are old enough now, and then all.
            #expect(await story.claim(1, backlog: BacklogPolicy(), at: 301).titles == ["89"])
        },
        Case("nothing is folded unless the request says so") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r")])
            try await story.offer(0..<60, at: 0)
            #expect(await story.claim(at: 9000).claims.count == 60)
        },
        Case("what was attempted keeps its key and goes alone") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r")])
            try await story.offer(0..<7, at: 0)
            let claim = try #require(await story.claim(1, at: 1).claims.first)
            await story.settle([claim], .retry(at: Story.instant(5), because: "busy"), at: 1)
            #expect(await story.claim(1, backlog: desktop, at: 2).titles == ["6"])
            let again = await story.claim(backlog: desktop, at: 5)
            #expect(again.titles == ["e0"] && again.claims.first?.delivery.key == claim.delivery.key)
        },
        Case("a claim that was released is an attempt that may have been seen") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r")])
            try await story.offer(0..<7, at: 0)
            await story.settle(story.claim(1, at: 1).claims, .released, at: 1)
            #expect(await story.claim(backlog: desktop, at: 2).titles == ["e0", "6"])
        },
        Case("a digest takes the place of the last event that it tells of") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r"), EffectPolicy(rule: "s")])
            try await story.offer(0..<3, at: 0)
            _ = try await story.offer("x", rule: 1, at: 1)
            try await story.offer(3..<6, at: 2)
            _ = try await story.offer("y", rule: 1, at: 3)
            try await story.offer(6..<8, at: 60)
            let policy = BacklogPolicy(count: 5, age: .seconds(30))
            #expect(await story.claim(backlog: policy, at: 60).titles == ["x", "6", "y", "e6", "e7"])
        },
        Case("each rule has a backlog of its own") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r"), EffectPolicy(rule: "s")])
            try await story.offer(0..<5, at: 0)
            try await story.offer(5..<10, rule: 1, at: 0)
            #expect(await story.claim(backlog: desktop, at: 1).claims.count == 10)
        },
        Case("digests and briefings are told as they are") { make in
            let digest = DigestPolicy(by: [.post], timing: .window(.seconds(10)))
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: digest)])
            for number in 0..<12 { _ = try await story.offer("a\(number)", post: "p\(number % 6)", at: 0) }
            try await story.advance(to: 10)
            #expect(await story.claim(backlog: desktop, at: 11).titles == ["2", "2", "2", "2", "2", "2"])
        },
        Case("a rule that is gone has no words for a digest") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r")])
            try await story.offer(0..<6, at: 0)
            try await story.adopt([EffectPolicy(rule: "other")], at: 1)
            #expect(await story.claim(backlog: desktop, at: 2).claims.count == 6)
        },
    ]

    static let foldedGroups: [Case] = [
        Case("groups are those of the rule's digest, else of its limit, and one event is an ordinary notice") { make in
            let digest = DigestPolicy(by: [.post], timing: .window(.seconds(1)))
            let limit = LimitPolicy(max: 99, per: .seconds(1), by: [.post])
            for policy in [EffectPolicy(rule: "r", digest: digest), EffectPolicy(rule: "r", limit: limit)] {
                let story = try await Story(make, [EffectPolicy(rule: "r")])
                try await story.offer(0..<7, post: { ["p", "q", "p", "q", "p", "q", "z"][$0] }, at: 0)
                try await story.adopt([policy], at: 1)
                let batch = await story.claim(backlog: desktop, at: 2)
                #expect(batch.titles == ["3", "3", "e6"])
                #expect(batch.folds == [ClaimBatch.Fold(rule: "r", deliveries: 6, digests: 2)])
                guard case .digest(let summary) = batch.claims.first?.delivery.content else { throw WrongContent() }
                #expect(summary.key.string == "p" && summary.events.map(\.string) == ["e0", "e2", "e4"])
                #expect(Set(batch.claims.map(\.delivery.key)).count == 3)
            }
        },
        Case("groups of one are left alone, and not looked at again") { make in
            let limit = LimitPolicy(max: 99, per: .seconds(1), by: [.post])
            let story = try await Story(make, [EffectPolicy(rule: "r", limit: limit)])
            try await story.offer(0..<8, post: { "p\($0)" }, at: 0)
            #expect(await story.claim(2, backlog: desktop, at: 1).titles == ["e0", "e1"])
            try await story.offer(8..<12, post: { "p\($0 - 8)" }, at: 2)
            let batch = await story.claim(backlog: desktop, at: 3)
            #expect(batch.claims.count == 10 && batch.folds == [])
        },
        Case("no digest of a backlog tells of more than a thousand events") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r")])
            try await story.offer(0..<2001, at: 0)
            let batch = await story.claim(backlog: BacklogPolicy(), at: 300)
            #expect(batch.titles == ["1000", "1000", "e2000"])
            #expect(await story.counters().pending == 2001)
        },
        Case("what limits suppressed is told by the digest") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(10), excess: .drop)
            let story = try await Story(make, [EffectPolicy(rule: "r", limit: limit)])
            for round in 0..<6 {
                _ = try await story.offer("a\(round)", at: Double(round) * 10)
                _ = try await story.offer("b\(round)", at: Double(round) * 10 + 1)
            }
            let batch = await story.claim(backlog: desktop, at: 60)
            #expect(batch.titles == ["6"] && batch.claims.first?.delivery.notice.suppressed == 5)
        },
        Case("a digest of a backlog that fails is tried again as it is") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r")])
            try await story.offer(0..<6, at: 0)
            let first = await story.claim(backlog: desktop, at: 1)
            await story.settle(first.claims, .retry(at: Story.instant(5), because: "busy"), at: 1)
            try await story.offer(6..<12, at: 2)
            let second = await story.claim(backlog: desktop, at: 5)
            #expect(second.titles == ["6", "6"])
            #expect(second.claims.first?.delivery.key == first.claims.first?.delivery.key)
            #expect(second.claims.map(\.attempt) == [2, 1])
        },
    ]
}

/// A delivery tells of something else than it should.
struct WrongContent: Error {}
