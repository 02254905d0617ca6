import RelayCore
import RelayJournal
import Testing

extension JournalContract {
    private static let hourly = DigestPolicy(by: [.post], timing: .window(.seconds(3600)))

    static let reloads: [Case] = [
        Case("limits and digests are kept by the name of their rule") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(60), excess: .drop)
            let policies = [EffectPolicy(rule: "d", digest: hourly), EffectPolicy(rule: "l", limit: limit)]
            let story = try await Story(make, policies)
            _ = try await story.offer("a", at: 0)
            _ = try await story.offer("b", rule: 1, at: 0)
            try await story.adopt([EffectPolicy(rule: "new")] + policies.reversed(), sinks: ["x", "sink"], at: 10)
            #expect(try await story.offer("c", rule: 2, sink: 1, at: 11) == until(3600))
            #expect(try await story.offer("d", rule: 1, sink: 1, at: 11) == .suppressed(.limited))
            try await story.advance(to: 3600)
            #expect(await story.delivered() == ["b", "2"])
        },
        Case("a digest that the new plan has no place for closes at once") { make in
            var (daily, byActor) = (hourly, hourly)
            daily.timing = .window(.seconds(86_400))
            byActor.by = [.actor]
            let changes: [[EffectPolicy]] = [
                [EffectPolicy(rule: "other")], [EffectPolicy(rule: "r")], [EffectPolicy(rule: "r", digest: daily)],
                [EffectPolicy(rule: "r", digest: byActor)], [EffectPolicy(rule: "r", digest: hourly, sinks: [1])],
            ]
            for policies in changes {
                let story = try await Story(make, [EffectPolicy(rule: "r", digest: hourly)])
                for id in ["a", "b"] { _ = try await story.offer(id, at: 0) }
                try await story.adopt(policies, at: 1)
                #expect(await story.delivered() == ["2"], "\(policies)")
            }
        },
        Case("other changes of a digest apply from its next window") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: hourly)])
            _ = try await story.offer("a", at: 0)
            var changed = hourly
            changed.max = 2
            try await story.adopt([EffectPolicy(rule: "r", digest: changed)], at: 1)
            for id in ["b", "c"] { #expect(try await story.offer(id, at: 2) == until(3600)) }
            #expect(try await story.offer("d", at: 3600) == until(7200))
            #expect(try await story.offer("e", at: 3601) == until(3601))
            #expect(await story.delivered() == ["3", "2"])
        },
        Case("an excess digest goes on by the limit as it is now, which no reload breaks") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(60))
            var (larger, longer, shorter, dropping) = (limit, limit, limit, limit)
            larger.max = 2
            longer.per = .seconds(90)
            shorter.per = .seconds(10)
            dropping.excess = .drop
            // The new limit, when the rest is sent, and how much of it is limited.
            let changes: [(LimitPolicy?, Double?, Int)] = [
                (larger, 60, 0), (longer, 90, 0), (shorter, 10, 0), (dropping, nil, 2), (nil, 1, 0),
            ]
            for (new, sent, limited) in changes {
                let story = try await Story(make, [EffectPolicy(rule: "r", limit: limit)])
                for id in ["a", "b", "c"] { _ = try await story.offer(id, at: 0) }
                try await story.adopt([EffectPolicy(rule: "r", limit: new)], at: 1)
                #expect(await story.receipts(.limited) == limited)
                if let sent {
                    if sent > 1 { try await story.advance(to: sent - 0.001) }
                    #expect(await story.delivered() == (sent > 1 ? ["a"] : ["a", "2"]), "\(String(describing: new))")
                    try await story.advance(to: sent)
                    #expect(await story.delivered() == (sent > 1 ? ["2"] : []), "\(String(describing: new))")
                }
                #expect(try await story.advance(to: 1000) == [])
            }
        },
        Case("what is over after a reload joins the excess of before") { make in
            let policy = { EffectPolicy(rule: "r", limit: LimitPolicy(max: 1, per: .seconds($0), by: $1)) }
            let story = try await Story(make, [policy(60, [.actor])])
            for actor in ["ann", "bo"] {
                for id in ["1", "2"] { _ = try await story.offer(actor + id, actor: actor, at: 0) }
            }
            try await story.adopt([policy(90, [.actor])], at: 1)
            #expect(try await story.offer("ann3", actor: "ann", at: 2) == until(90))
            // Both of them have one key then, which nothing was charged to: the older one goes at once.
            try await story.adopt([policy(80, [.kind])], at: 3)
            #expect(await story.delivered() == ["ann1", "bo1", "2"])
            #expect(try await story.offer("cy1", actor: "cy", at: 4) == until(83))
            #expect(try await story.advance(to: 83) == [])
            #expect(await story.delivered() == ["2"])
        },
        Case("a digest that lost its place waits for a slot of its limit") { make in
            let policy = { (window: Duration, limit: LimitPolicy?) in
                EffectPolicy(rule: "r", digest: DigestPolicy(by: [.post], timing: .window(window)), limit: limit)
            }
            let limit = LimitPolicy(max: 1, per: .seconds(60))
            let story = try await Story(make, [policy(.seconds(30), limit)])
            for post in ["p", "q", "r"] { _ = try await story.offer(post, post: post, at: 0) }
            try await story.adopt([policy(.seconds(40), limit)], at: 1)
            #expect(await story.delivered() == ["p"])
            try await story.advance(to: 61)
            #expect(await story.delivered() == ["q"])
            try await story.adopt([policy(.seconds(40), nil)], at: 62)
            #expect(await story.delivered() == ["r"])
        },
        Case("who waits for a slot goes by the limit as it is now") { make in
            let policy = { EffectPolicy(rule: "r", digest: hourly, limit: LimitPolicy(max: $0, per: .seconds(86_400))) }
            let story = try await Story(make, [policy(1)])
            for post in ["p", "q", "r", "s"] { _ = try await story.offer(post, post: post, at: 0) }
            try await story.advance(to: 3600)
            #expect(await story.delivered() == ["p"])
            try await story.adopt([policy(3)], at: 3601)
            #expect(await story.delivered() == ["q", "r"])
            try await story.adopt([policy(1)], at: 3602)
            #expect(try await story.advance(to: 3602) == [.relay(Story.instant(3601 + 86_400))])
        },
        Case("a digest that closes by a reload joins the briefing if the former hold is on") { make in
            let times = ["night": try Story.night(22, 7)]
            let story = try await Story(make, [EffectPolicy(rule: "r", digest: hourly, hold: "night")], times: times)
            for id in ["a", "b"] { _ = try await story.offer(id, at: 0) }
            try await story.adopt([EffectPolicy(rule: "other")], times: times, at: 1)
            #expect(await story.delivered() == [])
            try await story.advance(to: 7 * 3600)
            #expect(await story.delivered() == ["night: 2"])
        },
        Case("what was held stays until its time, as now written, is off") { make in
            let policies = [EffectPolicy(rule: "r", hold: "night")]
            let story = try await Story(make, policies, times: ["night": try Story.night(22, 7)])
            _ = try await story.offer("a", at: 0)
            try await story.adopt([EffectPolicy(rule: "new")], times: ["night": try Story.night(22, 9)], at: 1)
            #expect(try await story.advance(to: 7 * 3600) == [.wall(Story.instant(9 * 3600))])
            #expect(await story.delivered() == [])
            try await story.adopt(policies, times: ["night": try Story.night(22, 5)], at: 7 * 3600 + 1)
            #expect(await story.delivered() == ["night: 1"])
        },
        Case("the briefing of a time that is gone goes out at once") { make in
            let times = ["night": try Story.night(22, 7)]
            let story = try await Story(make, [EffectPolicy(rule: "r", hold: "night")], times: times)
            for id in ["a", "b"] { _ = try await story.offer(id, at: 0) }
            try await story.adopt([EffectPolicy(rule: "r")], times: ["noon": try Story.night(0, 13)], at: 1)
            #expect(await story.delivered() == ["night: 2"])
        },
        Case("deliveries of a sink that is gone stay pending") { make in
            let story = try await Story(make, [EffectPolicy(rule: "r")])
            _ = try await story.offer("a", at: 0)
            try await story.adopt([EffectPolicy(rule: "r")], sinks: ["other"], at: 1)
            #expect(await story.counters().pending == 1)
            #expect(try await story.offer("b", sink: 0, at: 2) == .stored)
            #expect(await story.delivered(to: "other") == ["b"])
        },
    ]
}
