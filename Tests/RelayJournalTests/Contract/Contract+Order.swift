import RelayCore
import RelayJournal
import RelayTestKit
import Testing

extension Story {
    /// Claims what is next in order, and says whether it was this.
    fileprivate func attempt(_ title: String?, _ settlement: Settlement, at seconds: Double) async {
        let batch = await claim(inOrder: true, at: seconds)
        #expect(batch.titles == (title.map { [$0] } ?? []), "at \(seconds)")
        await settle(batch.claims, settlement, at: seconds)
    }

    /// Lets the attempts of a delivery at these times fail in the way that it may be the cause of.
    fileprivate func fail(_ title: String, at times: [Double], _ trouble: Outcome.Trouble = .failed) async {
        for (index, time) in times.enumerated() {
            let next = index + 1 < times.count ? times[index + 1] : time + 100
            await attempt(title, .retry(at: Self.instant(next), because: "500", trouble: trouble), at: time)
        }
    }
}

extension JournalContract {
    static let order: [Case] = [
        Case("in order one is claimed at a time, and a retry holds back all behind it") { make in
            let story = try await Story.plain(make, "a", "b")
            let first = await story.claim(inOrder: true, at: 1)
            #expect(first.titles == ["a"])
            #expect(await story.claim(inOrder: true, at: 1).claims.isEmpty)
            await story.settle(first.claims, .retry(at: Story.instant(6), because: "busy"), at: 1)
            let held = await story.claim(inOrder: true, at: 2)
            #expect(held.claims.isEmpty && held.nextDue == Story.instant(6))
            await story.attempt("a", .delivered, at: 6)
            await story.attempt("b", .delivered, at: 6)
        },
        Case("after five failures over a minute the next one is tried, and if it succeeds the failing one steps aside") {
            make in
            let story = try await Story.plain(make, "a", "b", "c")
            await story.fail("a", at: [0, 15, 30, 45, 60])
            await story.attempt("b", .delivered, at: 61)
            #expect(await story.outbox() == ["a waiting aside: 500", "c due"])
            // It holds nobody back any more, and is tried at its own times.
            await story.attempt("c", .delivered, at: 62)
            #expect(await story.claim(inOrder: true, at: 100).nextDue == Story.instant(160))
            _ = try await story.offer("d", at: 110)
            await story.attempt("a", .retry(at: Story.instant(300), because: "500", trouble: .failed), at: 160)
            await story.attempt("d", .delivered, at: 161)
            await story.attempt("a", .delivered, at: 300)
            #expect(await story.outbox() == [])
        },
        Case("if the next one fails too the order is kept") { make in
            let story = try await Story.plain(make, "a", "b", "c")
            await story.fail("a", at: [0, 15, 30, 45, 60])
            await story.attempt("b", .retry(at: Story.instant(70), because: "500", trouble: .failed), at: 61)
            // Neither the third nor the second again: the first is next.
            await story.attempt(nil, .delivered, at: 62)
            await story.attempt(nil, .delivered, at: 75)
            await story.attempt("a", .retry(at: Story.instant(400), because: "500", trouble: .failed), at: 160)
            // It failed once more, so the second is tried once more.
            await story.attempt("b", .retry(at: Story.instant(170), because: "500", trouble: .failed), at: 161)
            await story.attempt(nil, .delivered, at: 399)
            await story.attempt("a", .delivered, at: 400)
            await story.attempt("b", .delivered, at: 401)
            await story.attempt("c", .delivered, at: 402)
        },
        Case("the one behind waits for its own time before it is tried again") { make in
            let story = try await Story.plain(make, "a", "b", "c")
            await story.fail("a", at: [0, 15, 30, 45, 60])
            await story.attempt("b", .retry(at: Story.instant(200), because: "500", trouble: .failed), at: 61)
            await story.attempt("a", .retry(at: Story.instant(400), because: "500", trouble: .failed), at: 160)
            await story.attempt(nil, .delivered, at: 161)
            #expect(await story.claim(inOrder: true, at: 162).nextDue == Story.instant(200))
            await story.attempt("b", .delivered, at: 200)
            await story.attempt("c", .delivered, at: 201)
        },
        Case("an attempt past the failing one that was not made may be made again") { make in
            let story = try await Story.plain(make, "a", "b")
            await story.fail("a", at: [0, 15, 30, 45, 60])
            await story.attempt("b", .released, at: 61)
            await story.attempt("b", .delivered, at: 62)
            #expect(await story.outbox() == ["a waiting aside: 500"])
        },
        Case("one that is refused past the failing one proves nothing") { make in
            let story = try await Story.plain(make, "a", "b", "c")
            await story.fail("a", at: [0, 15, 30, 45, 60])
            await story.attempt("b", .dead(because: "400"), at: 61)
            await story.attempt(nil, .delivered, at: 62)
            await story.attempt("a", .retry(at: Story.instant(400), because: "500", trouble: .failed), at: 160)
            await story.attempt("c", .delivered, at: 161)
            #expect(await story.outbox() == ["a waiting aside: 500", "b dead: 400"])
        },
        Case("nobody goes past one that failed too seldom, too shortly, or as the service was away") { make in
            for (times, trouble) in [
                ([0, 20, 40, 61], Outcome.Trouble.failed), ([0, 10, 20, 30, 40, 50, 59.999], .failed),
                ([0, 15, 30, 45, 60, 75], .away), ([0, 15, 30, 45, 60, 75], .overrun),
            ] as [([Double], Outcome.Trouble)] {
                let story = try await Story.plain(make, "a", "b")
                await story.fail("a", at: times, trouble)
                await story.attempt(nil, .delivered, at: (times.last ?? 0) + 50)
            }
        },
        Case("a dead letter that is taken back goes first again") { make in
            let story = try await Story.plain(make, "a", "b", "c")
            await story.attempt("a", .dead(because: "400"), at: 1)
            await story.attempt("b", .delivered, at: 2)
            #expect(try await story.retry(at: 3) == 1)
            await story.attempt("a", .delivered, at: 4)
            await story.attempt("c", .delivered, at: 5)
        },
    ]
}
