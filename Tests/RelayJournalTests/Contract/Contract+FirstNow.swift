import RelayCore
import RelayJournal
import Testing

extension JournalContract {
    private static let digest = DigestPolicy(by: [.post], timing: .window(.seconds(60)), sendsFirst: true)

    static let firstNow: [Case] = [
        Case("the first event goes at once, and windows follow until one is empty") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: digest)])
            #expect(try await story.offer("a", at: 0) == .stored)
            #expect(try await story.offer("b", at: 1) == until(60))
            #expect(try await story.offer("c", at: 2) == until(60))
            #expect(await story.delivered() == ["a"])
            // The next window opened at once.
            #expect(try await story.advance(to: 60) == [.relay(Story.instant(120))])
            #expect(await story.delivered() == ["2"])
            #expect(try await story.offer("d", at: 119.999) == until(120))
            #expect(try await story.advance(to: 120) == [.relay(Story.instant(180))])
            #expect(await story.delivered() == ["d"])
            #expect(try await story.advance(to: 179.999) == [.relay(Story.instant(180))])
            // After an empty window an event is a first one again.
            #expect(try await story.offer("e", at: 180) == .stored)
            #expect(await story.delivered() == ["e"])
            #expect(try await story.advance(to: 240) == [])
        },
        Case("max closes a window early, and the next one opens then") { make in
            var early = digest
            early.max = 2
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: early)])
            #expect(try await story.offer("a", at: 0) == .stored)
            #expect(try await story.offer("b", at: 1) == until(60))
            #expect(try await story.offer("c", at: 10) == until(10))
            #expect(try await story.offer("d", at: 11) == until(70))
            #expect(await story.delivered() == ["a", "2"])
        },
        Case("in held times the first event joins the briefing and opens the window") { make in
            let story = try await Story(
                make, [EffectPolicy(rule: "r", digest: digest, hold: "night")], times: ["night": try Story.night(22, 7)]
            )
            let held = Acceptance.held(time: "night", until: Story.instant(7 * 3600))
            #expect(try await story.offer("a", at: 100) == held)
            #expect(try await story.offer("b", at: 101) == until(160))
            // What was collected joins too, as its window closes inside of the night.
            try await story.advance(to: 160)
            #expect(try await story.offer("c", at: 7 * 3600 - 1) == held)
            #expect(await story.delivered() == [])
            #expect(try await story.offer("d", at: 7 * 3600) == until(7 * 3600 + 59))
            #expect(await story.delivered() == ["night: 3"])
            try await story.advance(to: 7 * 3600 + 59)
            #expect(await story.delivered() == ["d"])
        },
        Case("without a free slot the first event is collected") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(100))
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: digest, limit: limit)])
            #expect(try await story.offer("a", post: "p", at: 0) == .stored)
            #expect(try await story.offer("b", post: "q", at: 10) == until(70))
            try await story.advance(to: 60)
            // At 70 the slot of "a" is still used: the digest stays open, and events keep joining.
            #expect(try await story.advance(to: 70) == [.relay(Story.instant(100))])
            #expect(try await story.offer("c", post: "q", at: 90) == until(100))
            #expect(await story.delivered() == ["a"])
            try await story.advance(to: 100)
            #expect(await story.delivered() == ["2"])
        },
        Case("without a free slot the first event is limited, and opens the window") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(50), excess: .drop)
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: digest, limit: limit)])
            #expect(try await story.offer("a", post: "p", at: 0) == .stored)
            #expect(try await story.offer("b", post: "q", at: 10) == .suppressed(.limited))
            #expect(try await story.offer("c", post: "q", at: 11) == until(70))
            try await story.advance(to: 70)
            #expect(await story.delivered() == ["a", "c+1"])
        },
    ]
}
