import RelayCore
import RelayJournal
import Testing

extension JournalContract {
    static let bounds: [Case] = [
        Case("new groups share one at the bound, and nothing is lost") { make in
            let digest = DigestPolicy(by: [.post], timing: .window(.seconds(60)))
            let story = try await Story(
                make, [EffectPolicy(rule: "r", digest: digest), EffectPolicy(rule: "s", digest: digest)],
                bounds: LedgerBounds(groups: 2))
            for number in 0..<5 { _ = try await story.offer("a\(number)", post: "p\(number)", at: 0) }
            _ = try await story.offer("b", post: "p0", at: 1)
            _ = try await story.offer("c", post: "p9", rule: 1, at: 2)
            #expect(await story.journal.overflows().groups == 4)
            try await story.advance(to: 100)
            #expect(await story.delivered() == ["2", "a1", "3", "c"])
            // There is room again.
            _ = try await story.offer("d", post: "p7", at: 200)
            #expect(await story.journal.overflows().groups == 4)
        },
        Case("the shared group says that it is of others") { make in
            let digest = DigestPolicy(by: [.post], timing: .window(.seconds(60)))
            let story = try await Story(
                make, [EffectPolicy(rule: "r", digest: digest)], bounds: LedgerBounds(groups: 0))
            for number in 0..<2 { _ = try await story.offer("a\(number)", post: "p\(number)", at: 0) }
            try await story.advance(to: 60)
            let claims = await story.journal.claim(
                ClaimRequest(sink: "sink", upTo: 9, lease: .seconds(9)), at: Story.instant(60)
            ).claims
            guard case .digest(let summary)? = claims.first?.delivery.content else {
                Issue.record("no digest")
                return
            }
            #expect(summary.key.string == "others")
        },
        Case("new limit keys share one at the bound, and none has more than its due") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(60), by: [.actor], excess: .drop)
            let story = try await Story(
                make, [EffectPolicy(rule: "r", limit: limit)], bounds: LedgerBounds(limitKeys: 1))
            #expect(try await story.offer("a", actor: "ann", at: 0) == .stored)
            #expect(try await story.offer("b", actor: "bo", at: 50) == .stored)
            #expect(try await story.offer("c", actor: "cy", at: 51) == .suppressed(.limited))
            #expect(await story.journal.overflows().limitKeys == 2)
            // The key of ann is dropped; bo gets one, which knows of the notice that went by the shared one.
            #expect(try await story.offer("d", actor: "bo", at: 61) == .suppressed(.limited))
            #expect(try await story.offer("e", actor: "bo", at: 110) == .stored)
            #expect(await story.journal.overflows().limitKeys == 2)
            #expect(try await story.offer("f", actor: "cy", at: 111) == .stored)
            #expect(await story.delivered() == ["a", "b", "e+1", "f+1"])
        },
        Case("what a dropped limit key had to tell the shared one tells") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(60), by: [.actor], excess: .drop)
            let story = try await Story(
                make, [EffectPolicy(rule: "r", limit: limit)], bounds: LedgerBounds(limitKeys: 1))
            for id in ["a", "b", "c"] { _ = try await story.offer(id, actor: "ann", at: 0) }
            #expect(try await story.offer("d", actor: "bo", at: 100) == .stored)
            #expect(try await story.offer("e", actor: "cy", at: 101) == .stored)
            #expect(await story.delivered() == ["a", "d", "e+2"])
        },
        Case("a key with something to tell is kept for a stretch that a reload made longer") { make in
            let limit = { LimitPolicy(max: 1, per: .seconds($0), by: [.actor], excess: .drop) }
            let story = try await Story(
                make, [EffectPolicy(rule: "r", limit: limit(10))], bounds: LedgerBounds(limitKeys: 1))
            #expect(try await story.offer("a", actor: "ann", at: 0) == .stored)
            try await story.adopt([EffectPolicy(rule: "r", limit: limit(100))], at: 5)
            #expect(try await story.offer("b", actor: "ann", at: 6) == .suppressed(.limited))
            #expect(try await story.offer("c", actor: "bo", at: 20) == .stored)
            #expect(try await story.offer("d", actor: "ann", at: 30) == .suppressed(.limited))
        },
        Case("the excess of a shared limit key is a digest of others") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(60), by: [.actor])
            let story = try await Story(
                make, [EffectPolicy(rule: "r", limit: limit)], bounds: LedgerBounds(limitKeys: 0))
            #expect(try await story.offer("a", actor: "ann", at: 0) == .stored)
            #expect(try await story.offer("b", actor: "bo", at: 1) == until(61))
            #expect(try await story.offer("c", actor: "cy", at: 60) == until(61))
            try await story.advance(to: 61)
            #expect(await story.delivered() == ["a", "2"])
        },
        Case("the oldest repeat keys are forgotten at the bound") { make in
            let policy = RepeatPolicy(by: [.actor], within: .seconds(60))
            let story = try await Story(
                make, [EffectPolicy(rule: "r", repeat: policy)], bounds: LedgerBounds(repeatKeys: 2))
            for actor in ["ann", "bo", "cy"] { _ = try await story.offer(actor, actor: actor, at: 0) }
            #expect(await story.journal.overflows().repeatKeys == 1)
            #expect(try await story.offer("d", actor: "bo", at: 1) == .suppressed(.duplicate))
            #expect(try await story.offer("e", actor: "ann", at: 1) == .stored)
            // Those whose time is over are not forgotten before it.
            #expect(try await story.offer("f", actor: "dan", at: 100) == .stored)
            #expect(await story.journal.overflows().repeatKeys == 2)
        },
        Case("events above the bound of memory are counted and not listed") { make in
            let digest = DigestPolicy(by: [.post], timing: .window(.seconds(60)))
            let story = try await Story(
                make, [EffectPolicy(rule: "r", digest: digest)], bounds: LedgerBounds(gatheredBytes: 0))
            for id in ["a", "b", "c"] { _ = try await story.offer(id, at: 0) }
            try await story.advance(to: 60)
            let claims = await story.journal.claim(
                ClaimRequest(sink: "sink", upTo: 9, lease: .seconds(9)), at: Story.instant(60)
            ).claims
            guard case .digest(let summary)? = claims.first?.delivery.content else {
                Issue.record("no digest")
                return
            }
            #expect(summary.count == 3 && summary.events.map(\.string) == ["a"])
        },
    ]
}
