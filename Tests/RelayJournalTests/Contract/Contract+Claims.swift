import RelayCore
import RelayJournal
import RelayTestKit
import Testing

extension Story {
    /// A journal with one plain rule, and these events stored at 0.
    static func plain(
        _ make: JournalContract.Make, _ ids: String..., limits: OutboxShare.Limits = OutboxShare.Limits()
    ) async throws -> Story {
        let story = try await Story(make, [EffectPolicy(rule: "r"), EffectPolicy(rule: "s")], limits: limits)
        for id in ids { _ = try await story.offer(id, at: 0) }
        return story
    }
}

extension ClaimBatch {
    /// What the claimed deliveries read.
    var titles: [String] { claims.map { $0.delivery.notice.title.string } }
}

extension JournalContract {
    static let claims: [Case] = [
        Case("claims come in the order accepted, and each delivery once") { make in
            let story = try await Story.plain(make, "a", "b", "c")
            #expect(await story.claim(2, at: 1).titles == ["a", "b"])
            #expect(await story.claim(2, at: 1).titles == ["c"])
            let none = await story.claim(at: 2)
            #expect(none.claims.isEmpty && none.nextDue == Story.instant(61))
            #expect(await story.claim(from: "nowhere", at: 2).nextDue == nil)
        },
        Case("a retry is claimed when it is due and not before, and keeps key and age") { make in
            let story = try await Story.plain(make, "a", "b")
            let first = try #require(await story.claim(1, at: 1).claims.first)
            #expect(first.attempt == 1)
            await story.settle([first], .retry(at: Story.instant(6), because: "busy"), at: 1)
            #expect(await story.claim(at: 2).titles == ["b"])
            #expect(await story.claim(at: 5.999).nextDue == Story.instant(6))
            #expect(await story.outbox(OutboxSelection(isDead: false)) == ["a waiting: busy", "b claimed"])
            let again = try #require(await story.claim(at: 6).claims.first)
            #expect(again.attempt == 2 && again.acceptedAt == Story.instant(0) && again.serial == first.serial)
            #expect(again.delivery.key == first.delivery.key)
        },
        Case("a service that wants a pause gets nothing until its end, whoever claims") { make in
            let story = try await Story.plain(make, "a", "b", "c", "d")
            let claims = await story.claim(2, at: 1).claims
            let retry = Settlement.retry(at: Story.instant(20), because: "429")
            await story.settle([claims[0]], retry, pausedUntil: 600, at: 1)
            // One that was under way says less, and shortens nothing.
            await story.settle([claims[1]], retry, pausedUntil: 300, at: 2)
            _ = try await story.offer("e", at: 3)
            let none = await story.claim(at: 599.999)
            #expect(none.claims.isEmpty && none.nextDue == Story.instant(600))
            #expect(await story.claim(at: 600).titles == ["a", "b", "c", "d", "e"])
        },
        Case("a released claim is due at once and counts no attempt") { make in
            let story = try await Story.plain(make, "a")
            await story.settle(story.claim(at: 1).claims, .released, at: 1)
            #expect(await story.claim(at: 1).claims.map(\.attempt) == [1])
        },
        Case("a claim whose lease has ended is another's, and its settlement is stale") { make in
            let story = try await Story.plain(make, "a")
            let old = await story.claim(at: 0).claims
            #expect(await story.claim(at: 59.999).claims.isEmpty)
            let new = await story.claim(at: 60).claims
            #expect(new.map(\.attempt) == [2])
            #expect(await story.settle(old, .delivered, at: 60) == 1)
            #expect(await story.settle(new, .delivered, at: 60) == 0)
            #expect(await story.settle(new, .delivered, at: 60) == 1)
            #expect(await story.counters().delivered == 1)
        },
        Case("five claims never settled are dead") { make in
            let story = try await Story.plain(make, "a")
            for attempt in 1...5 {
                #expect(await story.claim(at: Double(attempt) * 60).claims.map(\.attempt) == [attempt])
            }
            #expect(await story.claim(at: 360).claims.isEmpty)
            #expect(await story.outbox() == ["a dead: killed the relay"])
            #expect(await story.counters().dead == 1)
        },
        Case("claims that were never settled count in a row only") { make in
            let story = try await Story.plain(make, "a")
            for round in 0..<6 {
                let claims = await story.claim(at: Double(round) * 60).claims
                #expect(claims.count == 1)
                guard round == 3 else { continue }
                await story.settle(claims, .retry(at: Story.instant(181), because: "busy"), at: 181)
            }
        },
    ]

    static let claimCounts: [Case] = [
        Case("whatever workers do, every effect is in exactly one place") { make in
            for seed in 0..<UInt64(5) {
                var random = SeededGenerator(seed: seed)
                let story = try await Story.plain(make, limits: OutboxShare.Limits(count: 20, dead: 3))
                var now = 0.0
                var held: [Claim] = []
                var offered = 0
                for step in 0..<150 {
                    now += Double.random(in: 0...40, using: &random)
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0, 1:
                        for number in 0..<3 {
                            let id = "\(step)-\(number % Int.random(in: 1...3, using: &random))"
                            _ = try await story.offer(id, at: now)
                            offered += 1
                        }
                    case 2:
                        let inOrder = Bool.random(using: &random)
                        held += await story.claim(3, inOrder: inOrder, at: now).claims
                    case 3 where step % 5 == 0:
                        _ = try await story.retry(at: now)
                    default:
                        guard let claim = held.popLast() else { continue }
                        let settlements: [Settlement] = [
                            .delivered, .dead(because: "no"), .released,
                            .retry(at: Story.instant(now + 9), because: "busy", trouble: .failed),
                        ]
                        await story.settle([claim], settlements.randomElement(using: &random) ?? .delivered, at: now)
                    }
                    #expect(await story.counters().effects == offered, "seed \(seed), step \(step)")
                }
            }
        }
    ]
}
