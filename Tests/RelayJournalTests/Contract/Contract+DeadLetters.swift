import RelayCore
import RelayJournal
import RelayTestKit
import Testing

extension Story {
    /// Claims all of a sink and gives it up.
    fileprivate func kill(_ sink: String = "sink", at seconds: Double) async {
        await settle(claim(from: sink, at: seconds).claims, .dead(because: "400"), at: seconds)
    }
}

extension JournalContract {
    static let deadLetters: [Case] = [
        Case("a dead letter is kept with its error, and its event is still a duplicate") { make in
            let story = try await Story.plain(make, "a", "b")
            await story.settle(story.claim(1, at: 1).claims, .dead(because: "400 no"), at: 1)
            #expect(await story.outbox() == ["a dead: 400 no", "b due"])
            #expect(await story.outbox(OutboxSelection(isDead: true)) == ["a dead: 400 no"])
            #expect(await story.outbox(OutboxSelection(isDead: false)) == ["b due"])
            #expect(await story.outbox(OutboxSelection(sink: "other")) == [])
            #expect(await story.outbox(limit: 1) == ["a dead: 400 no"])
            #expect(try await story.offer("a", at: 2) == .suppressed(.duplicate))
        },
        Case("what is taken back is pending as if it were accepted now, with its key") { make in
            let story = try await Story.plain(make, "a")
            let first = await story.claim(at: 1)
            await story.settle(first.claims, .dead(because: "400"), at: 1)
            #expect(try await story.retry(at: 100) == 1)
            #expect(await story.counters().pending == 1)
            let again = try #require(await story.claim(at: 101).claims.first)
            #expect(again.attempt == 1 && again.acceptedAt == Story.instant(100))
            #expect(again.delivery.key == first.claims.first?.delivery.key)
            #expect(try await story.retry(at: 102) == 0)
        },
        Case("what is taken back goes alone, whatever waits") { make in
            let story = try await Story.plain(make, "a", "b", "c", "d", "e", "f", "g")
            await story.kill(at: 1)
            #expect(try await story.retry(at: 2) == 7)
            #expect(await story.claim(backlog: BacklogPolicy(count: 5, age: .zero), at: 3).claims.count == 7)
        },
        Case("selections are by sink, by number and by age") { make in
            let story = try await Story.plain(make, "a")
            _ = try await story.offer("b", at: 10)
            _ = try await story.offer("x", sink: 1, at: 5)
            await story.kill(at: 20)
            await story.kill("other", at: 20)
            let serial = try await story.serial(of: "b")
            #expect(try await story.retry(OutboxSelection(sink: "other"), at: 21) == 1)
            #expect(try await story.retry(OutboxSelection(serials: [serial, 99_999]), at: 21) == 1)
            #expect(await story.outbox() == ["a dead: 400", "b due: 400", "x due: 400"])
            #expect(try await story.drop(OutboxSelection(acceptedBy: Story.instant(20)), at: 22) == 1)
            #expect(await story.outbox() == ["b due: 400", "x due: 400"])
        },
        Case("what finds no room when it is taken back stays dead") { make in
            let story = try await Story.plain(make, "a", "b", limits: OutboxShare.Limits(count: 2))
            await story.kill(at: 1)
            _ = try await story.offer("c", at: 2)
            #expect(try await story.retry(at: 3) == 1)
            #expect(await story.outbox() == ["a due: 400", "b dead: 400", "c due"])
        },
        Case("dropping makes what is pending dead, and forgets the text of what is dead") { make in
            let story = try await Story.plain(make, "a", "b", "c")
            let claimed = await story.claim(1, at: 1)
            #expect(try await story.drop(at: 2) == 2)
            #expect(await story.outbox() == ["a claimed", "b dead: dropped by hand", "c dead: dropped by hand"])
            #expect(await story.counters().dead == 2)
            #expect(try await story.drop(OutboxSelection(isDead: true), at: 3) == 2)
            #expect(await story.outbox() == ["a claimed"])
            #expect(await story.counters().dead == 2)
            await story.settle(claimed.claims, .delivered, at: 4)
            #expect(await story.claim(at: 5).claims.isEmpty)
            #expect(try await story.retry(at: 6) == 0)
            // Nothing tells any more that it was here.
            #expect(try await story.offer("b", at: 7) == .stored)
        },
        Case("the oldest dead letters are forgotten at the bound, and stay counted") { make in
            let story = try await Story.plain(make, "a", "b", "c", limits: OutboxShare.Limits(dead: 2))
            for time in 1...3 {
                await story.settle(story.claim(1, at: Double(time)).claims, .dead(because: "400"), at: Double(time))
            }
            #expect(await story.outbox() == ["b dead: 400", "c dead: 400"])
            #expect(await story.counters().dead == 3)
            // One that dies again is the youngest.
            #expect(try await story.retry(OutboxSelection(serials: [story.serial(of: "b")]), at: 4) == 1)
            await story.kill(at: 5)
            _ = try await story.offer("d", at: 6)
            await story.kill(at: 7)
            #expect(await story.outbox() == ["b dead: 400", "d dead: 400"])
        },
    ]

    static let moves: [Case] = [
        Case("a dead letter that is moved stays dead, and is a new effect of the other sink") { make in
            let story = try await Story.plain(make, "a")
            let first = await story.claim(at: 1)
            await story.settle(first.claims, .dead(because: "400"), at: 1)
            #expect(try await story.retry(to: "other", at: 2) == 1)
            #expect(await story.outbox() == ["a dead: moved to other", "a due"])
            #expect(await story.counters().dead == 1)
            #expect(await story.counters(of: "other").pending == 1)
            let moved = try #require(await story.claim(from: "other", at: 3).claims.first)
            #expect(moved.delivery.sink == "other" && moved.delivery.key != first.claims.first?.delivery.key)
            #expect(moved.attempt == 1 && moved.acceptedAt == Story.instant(2))
            await story.settle([moved], .delivered, at: 3)
            // Neither again nor back, unless it is named.
            #expect(try await story.retry(to: "other", at: 4) == 0)
            #expect(try await story.retry(at: 4) == 0)
            #expect(try await story.retry(OutboxSelection(serials: [story.serial(of: "a")]), at: 5) == 1)
            #expect(await story.outbox() == ["a due"])
        },
        Case("the same event goes to the other sink once as long as that has it") { make in
            let story = try await Story.plain(make, "a", "b")
            _ = try await story.offer("a", sink: 1, at: 1)
            await story.kill(at: 2)
            #expect(try await story.retry(to: "other", at: 3) == 1)
            #expect(await story.outbox() == ["a dead: 400", "b dead: moved to other", "a due", "b due"])
            #expect(try await story.offer("b", sink: 1, at: 4) == .suppressed(.duplicate))
        },
        Case("digests and briefings move, each with a key of its own") { make in
            let digest = DigestPolicy(timing: .window(.seconds(10)))
            let story = try await Story(
                make, [EffectPolicy(rule: "r", digest: digest), EffectPolicy(rule: "s", hold: "night")],
                times: ["night": try Story.night()])
            for id in ["a", "b"] { _ = try await story.offer(id, at: 0) }
            for id in ["c", "d", "e"] { _ = try await story.offer(id, rule: 1, at: 0) }
            try await story.advance(to: 8 * 3600)
            await story.kill(at: 8 * 3600)
            #expect(try await story.retry(to: "other", at: 8 * 3600) == 2)
            #expect(await story.counters(of: "other").pending == 5)
            #expect(await story.counters().dead == 5)
            #expect(await story.delivered(to: "other") == ["2", "night: 3"])
        },
        Case("what is pending moves if it is named, or if its sink is not in the file any more") { make in
            let story = try await Story.plain(make, "a", "b")
            #expect(try await story.retry(to: "other", at: 1) == 0)
            #expect(try await story.retry(OutboxSelection(serials: [story.serial(of: "a")]), to: "other", at: 1) == 1)
            #expect(await story.outbox(OutboxSelection(sink: "sink")) == ["a dead: moved to other", "b due"])
            try await story.adopt([EffectPolicy(rule: "r")], sinks: ["other"], at: 2)
            #expect(try await story.retry(OutboxSelection(sink: "sink"), to: "other", at: 3) == 1)
            #expect(await story.outbox(OutboxSelection(isDead: false)) == ["a due", "b due"])
        },
        Case("a sink that is not in the file, or has no room, takes nothing") { make in
            let story = try await Story.plain(make, "a", "b", limits: OutboxShare.Limits(count: 2))
            await story.kill(at: 1)
            _ = try await story.offer("x", sink: 1, at: 2)
            #expect(try await story.retry(to: "nowhere", at: 3) == 0)
            #expect(try await story.retry(to: "sink", at: 3) == 0)
            #expect(try await story.retry(to: "other", at: 3) == 1)
            #expect(await story.outbox() == ["a dead: moved to other", "b dead: 400", "x due", "a due"])
            #expect(await story.counters(of: "other").dead == 0)
        },
    ]

    static let ages: [Case] = [
        Case("what is too old is given up without a worker, but for what is claimed") { make in
            let story = try await Story.plain(make, "a", "b")
            _ = try await story.offer("c", at: 10)
            let claimed = await story.claim(1, at: 20)
            let given = await story.journal.giveUp(
                sink: "sink", acceptedBy: Story.instant(0), at: Story.instant(21))
            #expect(given == GivenUp(count: 1, oldest: Story.instant(0)))
            #expect(await story.outbox() == ["a claimed", "b dead: too old", "c due"])
            await story.settle(claimed.claims, .delivered, at: 22)
            let again = await story.journal.giveUp(
                sink: "sink", acceptedBy: Story.instant(0), at: Story.instant(23))
            #expect(again == GivenUp(count: 0, oldest: Story.instant(10)))
            let all = await story.journal.giveUp(
                sink: "sink", acceptedBy: Story.instant(10), at: Story.instant(24))
            #expect(all == GivenUp(count: 1, oldest: nil))
            #expect(await story.claim(at: 25).claims.isEmpty)
            let none = await story.journal.giveUp(
                sink: "nowhere", acceptedBy: Story.instant(0), at: Story.instant(26))
            #expect(none == GivenUp(count: 0, oldest: nil))
            await story.checkCounters()
        },
        Case("what waits for its retry is given up too") { make in
            let story = try await Story.plain(make, "a")
            let retry = Settlement.retry(at: Story.instant(1000), because: "busy")
            await story.settle(story.claim(at: 1).claims, retry, at: 1)
            let given = await story.journal.giveUp(
                sink: "sink", acceptedBy: Story.instant(5), at: Story.instant(6))
            #expect(given.count == 1)
            #expect(await story.claim(at: 1000).claims.isEmpty)
            #expect(try await story.retry(at: 1001) == 1)
            #expect(await story.claim(at: 1002).titles == ["a"])
        },
    ]

    static let full: [Case] = [
        Case("what finds the outbox full is dead, counted by rule and hour, and no other sink notices") { make in
            let story = try await Story.plain(make, "a", limits: OutboxShare.Limits(count: 1))
            #expect(try await story.offer("b", at: 1) == .outboxFull)
            #expect(try await story.offer("c", rule: 1, at: 3599) == .outboxFull)
            #expect(try await story.offer("d", at: 3600) == .outboxFull)
            #expect(try await story.offer("x", sink: 1, at: 3600) == .stored)
            let expected = [("r", 0, 1), ("s", 0, 1), ("r", 3600, 1)].map { rule, hour, count in
                OutboxFullCount(sink: "sink", rule: rule, hour: Story.instant(Double(hour)), count: count, untold: count)
            }
            #expect(await story.journal.outboxFull() == expected)
            #expect(await story.counters().dead == 3)
            #expect(await story.outbox(OutboxSelection(sink: "sink")) == ["a due"])
        },
        Case("the next notice of the rule that gets through tells how many did not") { make in
            let story = try await Story.plain(make, "a", limits: OutboxShare.Limits(count: 1))
            for id in ["b", "c"] { _ = try await story.offer(id, at: 1) }
            _ = try await story.offer("d", at: 3601)
            #expect(await story.delivered() == ["a"])
            _ = try await story.offer("x", rule: 1, at: 3602)
            let other = await story.claim(at: 3602)
            #expect(other.claims.map { $0.delivery.notice.body.string } == [""])
            await story.settle(other.claims, .delivered, at: 3602)
            _ = try await story.offer("e", at: 3603)
            let told = await story.claim(at: 3603)
            #expect(told.claims.map { $0.delivery.notice.body.string } == ["(3 before this found the outbox full)"])
            #expect(await story.journal.outboxFull().map(\.untold) == [0, 0])
            #expect(await story.journal.outboxFull().map(\.count) == [2, 1])
            await story.settle(told.claims, .delivered, at: 3604)
            _ = try await story.offer("f", at: 3605)
            #expect(await story.claim(at: 3605).claims.map { $0.delivery.notice.body.string } == [""])
        },
        Case("a share is bounded in bytes") { make in
            // One takes some 400 bytes.
            let story = try await Story.plain(make, "a", limits: OutboxShare.Limits(bytes: 600))
            #expect(try await story.offer("b", at: 1) == .outboxFull)
        },
        Case("a digest is full with all that it carries") { make in
            let digest = DigestPolicy(timing: .window(.seconds(10)))
            let story = try await Story(
                make, [EffectPolicy(rule: "r"), EffectPolicy(rule: "s", digest: digest)],
                limits: OutboxShare.Limits(count: 1))
            _ = try await story.offer("a", at: 0)
            for id in ["b", "c", "d"] { _ = try await story.offer(id, rule: 1, at: 0) }
            try await story.advance(to: 10)
            #expect(await story.journal.outboxFull().map(\.count) == [3])
        },
    ]
}
