import RelayCore
import RelayJournal
import Testing

extension JournalContract {
    static let digests: [Case] = [
        Case("a window is half open, and tells the right count") { make in
            let digest = DigestPolicy(by: [.post], timing: .window(.seconds(60)))
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: digest)])
            #expect(try await story.offer("a", post: "p", at: 0) == until(60))
            #expect(try await story.offer("b", post: "p", at: 59.999) == until(60))
            #expect(try await story.advance(to: 59.999) == [.relay(Story.instant(60))])
            #expect(await story.delivered() == [])
            #expect(try await story.offer("c", post: "p", at: 60) == until(120))
            #expect(await story.delivered() == ["2"])
            #expect(await story.counters().pending == 1)
            #expect(try await story.advance(to: 120) == [])
            // A digest of one is an ordinary notice.
            #expect(await story.delivered() == ["c"])
            #expect(await story.counters().delivered == 3)
        },
        Case("groups are apart by their fields, and a UUID has no case") { make in
            let digest = DigestPolicy(by: [.post], timing: .window(.seconds(60)))
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: digest)])
            _ = try await story.offer("a", post: "AAAAAAAA-1111-4111-8111-11111111111F", at: 0)
            _ = try await story.offer("b", post: "aaaaaaaa-1111-4111-8111-11111111111f", at: 1)
            _ = try await story.offer("c", post: nil, at: 2)
            _ = try await story.offer("d", post: "Word", at: 3)
            _ = try await story.offer("e", post: "word", at: 4)
            try await story.advance(to: 100)
            #expect(await story.delivered() == ["2", "c", "d", "e"])
        },
        Case("max closes a digest early") { make in
            let digest = DigestPolicy(timing: .window(.seconds(60)), max: 3)
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: digest)])
            #expect(try await story.offer("a", at: 0) == until(60))
            #expect(try await story.offer("b", at: 1) == until(60))
            #expect(try await story.offer("c", at: 2) == until(2))
            #expect(await story.delivered() == ["3"])
            #expect(try await story.offer("d", at: 3) == until(63))
        },
        Case("the digests of one group have keys of their own, and say what is in them") { make in
            let digest = DigestPolicy(by: [.actor, .post], timing: .window(.seconds(60)))
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: digest)])
            for window in 0..<2 {
                _ = try await story.offer("a\(window)", actor: "Ann", post: nil, at: Double(window) * 60)
                _ = try await story.offer("b\(window)", actor: "ann", post: nil, at: Double(window) * 60 + 5)
            }
            try await story.advance(to: 1000)
            let claims = await story.journal.claim(
                ClaimRequest(sink: "sink", upTo: 9, lease: .seconds(9)), at: Story.instant(1000)
            ).claims
            #expect(Set(claims.map(\.delivery.key)).count == 2)
            guard case .digest(let summary)? = claims.first?.delivery.content else {
                Issue.record("no digest")
                return
            }
            #expect(summary.key.string == "Ann, -" && summary.count == 2)
            #expect(summary.events.map(\.string) == ["a0", "b0"])
            #expect(summary.actors.map(\.string) == ["Ann", "ann"] && summary.posts.isEmpty)
            #expect((summary.first, summary.last) == (Story.instant(0), Story.instant(5)))
        },
        Case("a digest at times of day closes by the wall clock") { make in
            let times = DailyTimes(minutes: [9 * 60, 18 * 60], zone: try #require(Story.utc))
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: DigestPolicy(timing: .at(times)))])
            let nine = Acceptance.gathered(until: .wall(Story.instant(9 * 3600)))
            #expect(try await story.offer("a", at: 0, wall: 3600) == nine)
            #expect(try await story.offer("b", at: 1, wall: 9 * 3600 - 1) == nine)
            // Relay time alone closes nothing.
            #expect(try await story.advance(to: 99_000, wall: 9 * 3600 - 1) == [.wall(Story.instant(9 * 3600))])
            #expect(await story.delivered() == [])
            let evening = Acceptance.gathered(until: .wall(Story.instant(18 * 3600)))
            #expect(try await story.offer("c", at: 99_001, wall: 9 * 3600) == evening)
            #expect(await story.delivered() == ["2"])
        },
        Case("at one instant groups close first, oldest first, then briefings, then come the events") { make in
            let digest = DigestPolicy(by: [.post], timing: .window(.seconds(3600)))
            let story = try await Story(
                make,
                [
                    EffectPolicy(rule: "r", digest: digest), EffectPolicy(rule: "s", hold: "night"),
                    EffectPolicy(rule: "t"),
                ],
                times: ["night": try Story.night(22, 7)])
            _ = try await story.offer("held", rule: 1, at: 2 * 3600)
            _ = try await story.offer("a", post: "second", at: 6 * 3600)
            _ = try await story.offer("b", post: "third", at: 6 * 3600)
            #expect(try await story.offer("c", rule: 2, at: 7 * 3600) == .stored)
            #expect(await story.delivered() == ["a", "b", "night: 1", "c"])
        },
        Case("all that was due long ago closes in the same order") { make in
            let (short, long) = (Duration.seconds(60), Duration.seconds(600))
            let story = try await Story(
                make,
                [
                    EffectPolicy(rule: "r", digest: DigestPolicy(timing: .window(long))),
                    EffectPolicy(rule: "s", digest: DigestPolicy(timing: .window(short))),
                ])
            _ = try await story.offer("a", at: 0)
            _ = try await story.offer("b", rule: 1, at: 1)
            #expect(try await story.advance(to: 5000) == [])
            #expect(await story.delivered() == ["a", "b"])
        },
    ]

    /// What a journal must do that the process takes with it.
    static let endings: [Case] = [
        Case("what is open closes before the end of the process") { make in
            let digest = DigestPolicy(by: [.post], timing: .window(.seconds(3600)), sendsFirst: true)
            let limit = LimitPolicy(max: 1, per: .seconds(60))
            let story = try await Story(
                make,
                [
                    EffectPolicy(rule: "r", digest: digest), EffectPolicy(rule: "s", hold: "night"),
                    EffectPolicy(rule: "t", limit: limit),
                ],
                times: ["night": try Story.night(22, 7)])
            for id in ["a", "b", "c"] { _ = try await story.offer(id, post: "p", at: 0) }
            _ = try await story.offer("d", post: "q", at: 0)
            for id in ["e", "f"] { _ = try await story.offer(id, rule: 1, at: 1) }
            for id in ["g", "h", "i"] { _ = try await story.offer(id, rule: 2, at: 1) }
            try await story.journal.finish(at: Story.moment(2))
            #expect(await story.delivered() == ["a", "d", "g", "2", "2", "night: 2"])
            #expect(await story.counters().pending == 0)
        }
    ]
}
