import RelayCore
import RelayJournal
import Testing

extension JournalContract {
    static let slots: [Case] = [
        Case("a digest without a free slot stays open until one is free") { make in
            let digest = DigestPolicy(by: [.post], timing: .window(.seconds(10)))
            let limit = LimitPolicy(max: 1, per: .seconds(60))
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: digest, limit: limit)])
            _ = try await story.offer("a", post: "p", at: 0)
            _ = try await story.offer("b", post: "q", at: 1)
            #expect(try await story.advance(to: 10) == [.relay(Story.instant(11))])
            #expect(try await story.advance(to: 11) == [.relay(Story.instant(70))])
            #expect(try await story.offer("c", post: "q", at: 69.999) == until(70))
            #expect(await story.delivered() == ["a"])
            #expect(try await story.offer("d", post: "q", at: 70) == until(80))
            #expect(await story.delivered() == ["2"])
            // Of two that wait for the same slot the older one gets it.
            #expect(try await story.offer("e", post: "r", at: 71) == until(81))
            #expect(try await story.advance(to: 100) == [.relay(Story.instant(130))])
            #expect(try await story.advance(to: 130) == [.relay(Story.instant(190))])
            #expect(await story.delivered() == ["d"])
            try await story.advance(to: 190)
            #expect(await story.delivered() == ["e"])
        },
        Case("a digest without a free slot is dropped whole, and told") { make in
            let digest = DigestPolicy(by: [.post], timing: .window(.seconds(10)))
            let limit = LimitPolicy(max: 1, per: .seconds(60), excess: .drop)
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: digest, limit: limit)])
            _ = try await story.offer("a", post: "p", at: 0)
            for id in ["b", "c", "d"] { _ = try await story.offer(id, post: "q", at: 1) }
            try await story.advance(to: 10)
            try await story.advance(to: 11)
            #expect(await story.receipts(.limited) == 3)
            _ = try await story.offer("e", post: "q", at: 60)
            try await story.advance(to: 70)
            #expect(await story.delivered() == ["a", "e+3"])
        },
        Case("an event that closes a digest early is told what became of it") { make in
            let digest = DigestPolicy(by: [.post], timing: .window(.seconds(10)), max: 2)
            for excess in LimitPolicy.Excess.allCases {
                let limit = LimitPolicy(max: 1, per: .seconds(60), excess: excess)
                let story = try await Story(make, [EffectPolicy(rule: "r", digest: digest, limit: limit)])
                _ = try await story.offer("a", at: 0)
                #expect(try await story.offer("b", at: 1) == until(1))
                _ = try await story.offer("c", at: 2)
                let acceptance = try await story.offer("d", at: 3)
                #expect(acceptance == (excess == .drop ? .suppressed(.limited) : until(61)))
            }
        },
        Case("a digest that finds the outbox full is dead with all it carries") { make in
            let digest = DigestPolicy(timing: .window(.seconds(10)))
            let story = try await Story(
                make, [EffectPolicy(rule: "r", digest: digest), EffectPolicy(rule: "s")],
                limits: OutboxShare.Limits(count: 1))
            for id in ["a", "b", "c"] { _ = try await story.offer(id, at: 0) }
            #expect(try await story.offer("x", rule: 1, at: 1) == .stored)
            try await story.advance(to: 10)
            #expect(await story.counters().dead == 3)
            #expect(await story.delivered() == ["x"])
        },
    ]

    static let holds: [Case] = [
        Case("what is held comes in one briefing a sink, and is not charged") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(60), excess: .drop)
            let policies = [
                EffectPolicy(rule: "r", hold: "night", limit: limit), EffectPolicy(rule: "s", hold: "night"),
            ]
            let story = try await Story(make, policies, times: ["night": try Story.night(22, 7)])
            let held = Acceptance.held(time: "night", until: Story.instant(7 * 3600))
            for id in ["a", "b"] { #expect(try await story.offer(id, at: 0) == held) }
            #expect(try await story.offer("c", rule: 1, at: 1) == held)
            #expect(try await story.offer("d", rule: 1, sink: 1, at: 1) == held)
            #expect(try await story.advance(to: 1000) == [.wall(Story.instant(7 * 3600))])
            #expect(await story.counters().pending == 3)
            #expect(try await story.offer("e", at: 7 * 3600) == .stored)
            #expect(try await story.offer("f", at: 7 * 3600) == .suppressed(.limited))
            #expect(await story.delivered() == ["night: 3", "e"])
            #expect(await story.delivered(to: "other") == ["night: 1"])
        },
        Case("a quiet time goes by the wall clock, set back or forward") { make in
            let story = try await Story(
                make, [EffectPolicy(rule: "r", hold: "night")], times: ["night": try Story.night(22, 7)])
            #expect(try await story.offer("a", at: 0, wall: 8 * 3600) == .stored)
            let held = Acceptance.held(time: "night", until: Story.instant(7 * 3600))
            #expect(try await story.offer("b", at: 1, wall: 6 * 3600) == held)
            #expect(try await story.offer("c", at: 2, wall: 5 * 3600) == held)
            #expect(try await story.offer("d", at: 3, wall: 7 * 3600) == .stored)
            #expect(await story.delivered() == ["a", "night: 2", "d"])
        },
        Case("a digest that closes in held times joins the briefing, one that closes later goes alone") { make in
            let digest = DigestPolicy(by: [.post], timing: .window(.seconds(3600)))
            let story = try await Story(
                make, [EffectPolicy(rule: "r", digest: digest, hold: "night")], times: ["night": try Story.night(22, 7)]
            )
            for id in ["a", "b"] { _ = try await story.offer(id, post: "p", at: 5 * 3600) }
            for id in ["c", "d", "e"] { _ = try await story.offer(id, post: "q", at: 6.5 * 3600) }
            try await story.advance(to: 6 * 3600)
            #expect(await story.counters().pending == 5)
            try await story.advance(to: 7 * 3600)
            #expect(await story.delivered() == ["night: 2"])
            try await story.advance(to: 7.5 * 3600)
            #expect(await story.delivered() == ["3"])
        },
        Case("a time that is not among the plan's holds nothing") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r", hold: "nowhen")])
            #expect(try await story.offer("a", at: 0) == .stored)
        },
    ]
}
