import RelayCore
import RelayStream
import RelayTestKit
import Testing

struct SeenEventsTests {
    private func id(_ number: UInt64) -> EventID {
        var generator = SeededGenerator(seed: number)
        return EventID(high: generator.next(), low: generator.next())
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func agreesWithASetAndARing(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let capacity = [1, 2, 7, 100, 128, 129, 1000].randomElement(using: &generator) ?? 1
        let range = UInt64.random(in: 1...UInt64(capacity * 3), using: &generator)
        var seen = SeenEvents(capacity: capacity, seed: generator.next())
        var set: Set<EventID> = []
        var ring: [EventID] = []
        for step in 0..<(capacity * 10 + 500) {
            let id = id(UInt64.random(in: 0..<range, using: &generator))
            let isNew = set.insert(id).inserted
            if isNew {
                ring.append(id)
                if ring.count > capacity { set.remove(ring.removeFirst()) }
            }
            let isTaken = seen.insert(id)
            guard isTaken == isNew, seen.contains(id), seen.count == ring.count else {
                Issue.record("seed \(seed), capacity \(capacity), step \(step)")
                return
            }
        }
        let ids = seen.ids
        #expect(ids == ring, "seed \(seed)")
        for number in 0..<range {
            let isSeen = seen.contains(id(number))
            #expect(isSeen == set.contains(id(number)), "seed \(seed)")
        }
    }

    /// Ids that agree in all but a few low bits, as a server that counts gives them.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func countedIDsDoNotCollide(seed: UInt64) {
        var seen = SeenEvents(capacity: 1000, seed: seed)
        var new = 0
        var old = 0
        for number in 0..<5000 as Range<UInt64> {
            for id in [EventID(high: 0, low: number), EventID(high: number + 1, low: 0)] {
                if seen.insert(id) { new += 1 }
                if !seen.insert(id) { old += 1 }
            }
        }
        let count = seen.count
        #expect((new, old, count) == (10_000, 10_000, 1000))
    }

    @Test func manyIDsKeepTheBound() {
        var seen = SeenEvents(seed: 1)
        for number in 0..<300_000 as Range<UInt64> { _ = seen.insert(EventID(high: number, low: ~number)) }
        let results = [200_000, 299_999, 199_999].map { seen.insert(EventID(high: $0, low: ~$0)) }
        #expect(results == [false, false, true])
        let (capacity, count) = (seen.capacity, seen.count)
        #expect((capacity, count) == (100_000, 100_000))
    }

    @Test func firstOfTwentyThousandIsRemembered() {
        var seen = SeenEvents(seed: 1)
        let new = (0..<20_000 as Range<UInt64>).count { seen.insert(id($0)) }
        let again = seen.insert(id(0))
        #expect(new == 20_000)
        #expect(!again)
    }

    @Test func idsComeBackInOrder() {
        var seen = SeenEvents(capacity: 3, seed: 1)
        for number in 1...5 as ClosedRange<UInt64> { _ = seen.insert(EventID(high: number, low: 0)) }
        let ids = seen.ids
        #expect(ids.map(\.high) == [3, 4, 5])
    }
}
