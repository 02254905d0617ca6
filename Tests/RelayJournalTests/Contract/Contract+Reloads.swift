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
        Case("an excess digest closes when its limit changes, and not else") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(60))
            var (larger, longer, dropping) = (limit, limit, limit)
            larger.max = 2
            longer.per = .seconds(90)
            dropping.excess = .drop
            for (new, closes) in [(larger, false), (longer, true), (dropping, true), (nil, true)] {
                let story = try await Story(make, [EffectPolicy(rule: "r", limit: limit)])
                for id in ["a", "b", "c"] { _ = try await story.offer(id, at: 0) }
                try await story.adopt([EffectPolicy(rule: "r", limit: new)], at: 1)
                #expect(await story.delivered() == (closes ? ["a", "2"] : ["a"]))
            }
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
