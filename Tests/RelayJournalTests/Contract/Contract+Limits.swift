import RelayCore
import RelayJournal
import Testing

extension JournalContract {
    static let limits: [Case] = [
        Case("a limit passes max in a stretch and tells how many it dropped") { make in
            let limit = LimitPolicy(max: 2, per: .seconds(10), excess: .drop)
            let story = try await Story(make, [EffectPolicy(rule: "r", limit: limit)])
            #expect(try await story.offer("a", at: 0) == .stored)
            #expect(try await story.offer("b", at: 1) == .stored)
            #expect(try await story.offer("c", at: 2) == .suppressed(.limited))
            #expect(try await story.offer("d", at: 9.999) == .suppressed(.limited))
            // Half open: ten seconds after the first it is out.
            #expect(try await story.offer("e", at: 10) == .stored)
            #expect(try await story.offer("f", at: 10.999) == .suppressed(.limited))
            #expect(try await story.offer("g", at: 11) == .stored)
            #expect(await story.delivered() == ["a", "b", "e+2", "g+1"])
            #expect(
                await story.journal.receipts() == [ReceiptCount(rule: "r", sink: "sink", receipt: .limited, count: 3)])
        },
        Case("what a limit dropped is told however late its next notice comes") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(10), by: [.actor], excess: .drop)
            let story = try await Story(make, [EffectPolicy(rule: "r", limit: limit)])
            for second in 0..<5 { _ = try await story.offer("a\(second)", at: Double(second)) }
            try await story.advance(to: 5000)
            #expect(try await story.offer("b", actor: "bo", at: 5001) == .stored)
            #expect(try await story.offer("z", at: 9000) == .stored)
            #expect(await story.delivered() == ["a0", "b", "z+4"])
        },
        Case("limit keys compare as conditions do, and an absent value is one") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(10), by: [.actor], excess: .drop)
            let story = try await Story(make, [EffectPolicy(rule: "r", limit: limit)])
            #expect(try await story.offer("a", actor: "Zo\u{e9}", at: 0) == .stored)
            #expect(try await story.offer("b", actor: "ZOE\u{301}", at: 0) == .suppressed(.limited))
            #expect(try await story.offer("c", actor: nil, at: 0) == .stored)
            #expect(try await story.offer("d", actor: nil, at: 0) == .suppressed(.limited))
            #expect(try await story.offer("e", actor: "", at: 0) == .stored)
        },
        Case("limits are apart for each rule and sink") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(10), excess: .drop)
            let story = try await Story(
                make, [EffectPolicy(rule: "r", limit: limit), EffectPolicy(rule: "s", limit: limit)])
            #expect(try await story.offer("a", at: 0) == .stored)
            #expect(try await story.offer("b", sink: 1, at: 0) == .stored)
            #expect(try await story.offer("c", rule: 1, at: 0) == .stored)
            #expect(try await story.offer("d", at: 0) == .suppressed(.limited))
        },
        Case("an excess digest takes all of its key while it is open, and finds a slot") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(10), by: [.actor])
            let story = try await Story(make, [EffectPolicy(rule: "r", limit: limit)])
            #expect(try await story.offer("a", at: 0) == .stored)
            #expect(try await story.offer("b", at: 1) == until(11))
            // The slot is free again, and it joins all the same.
            #expect(try await story.offer("c", at: 10) == until(11))
            #expect(try await story.offer("x", actor: "bo", at: 10) == .stored)
            // The group closes before the event of that instant, and took the slot.
            #expect(try await story.offer("d", at: 11) == until(21))
            #expect(await story.delivered() == ["a", "x", "2"])
            try await story.advance(to: 21)
            #expect(await story.delivered() == ["d"])
        },
        Case("a delivery that finds no room is not charged") { make in
            let limit = LimitPolicy(max: 2, per: .seconds(10), excess: .drop)
            let story = try await Story(
                make, [EffectPolicy(rule: "r", limit: limit)], limits: OutboxShare.Limits(count: 1))
            #expect(try await story.offer("a", at: 0) == .stored)
            #expect(try await story.offer("b", at: 0) == .outboxFull)
            #expect(await story.delivered() == ["a"])
            #expect(try await story.offer("c", at: 0) == .stored)
            #expect(await story.counters().dead == 1)
        },
        Case("a charge in the future counts as made now") { make in
            let limit = LimitPolicy(max: 1, per: .seconds(10), excess: .drop)
            let story = try await Story(make, [EffectPolicy(rule: "r", limit: limit)])
            #expect(try await story.offer("a", at: 5000) == .stored)
            #expect(try await story.offer("b", at: 100) == .suppressed(.limited))
            #expect(try await story.offer("c", at: 109.999) == .suppressed(.limited))
            #expect(try await story.offer("d", at: 110) == .stored)
        },
        Case("a key that passed is a duplicate for its time, counted from the one that passed") { make in
            let policy = RepeatPolicy(by: [.actor, .kind, .post], within: .seconds(10))
            let story = try await Story(make, [EffectPolicy(rule: "r", repeat: policy)])
            #expect(try await story.offer("a", post: "p", at: 0) == .stored)
            #expect(try await story.offer("b", kind: "unlike", post: "p", at: 1) == .stored)
            #expect(try await story.offer("c", post: "p", at: 6) == .suppressed(.duplicate))
            #expect(try await story.offer("d", post: "q", at: 6) == .stored)
            #expect(try await story.offer("e", post: "p", sink: 1, at: 6) == .stored)
            #expect(try await story.offer("f", post: "p", at: 9.999) == .suppressed(.duplicate))
            #expect(try await story.offer("g", post: "p", at: 10) == .stored)
            #expect(await story.receipts(.duplicate) == 2)
            #expect(await story.delivered() == ["a", "b", "d", "g"])
        },
    ]
}
