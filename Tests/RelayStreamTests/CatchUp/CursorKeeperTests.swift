import RelayCore
import Testing

@testable import RelayStream

struct CursorKeeperTests {
    private static let cursor = CatchUpFixtures.cursor

    private static func batch(_ numbers: [Int]) -> EventBatch { CatchUpFixtures.batch(numbers) }

    private func number(_ cursor: StreamCursor?) -> Int? { cursor.map { CatchUpFixtures.number($0.id) } }

    @Test func cursorNeverPassesWhatIsNotSettled() {
        var keeper = CursorKeeper()
        let tickets = (1...3).map { keeper.add(live: Self.batch([$0])) }
        #expect(keeper.cursor == nil && number(keeper.position) == 3)
        keeper.settle(tickets[1])
        #expect(keeper.cursor == nil)
        keeper.settle(tickets[0])
        #expect(number(keeper.cursor) == 2)
        keeper.settle(tickets[2])
        #expect(number(keeper.cursor) == 3 && keeper.ticketCount == 0)
    }

    @Test func everyPartIsWaitedFor() {
        var keeper = CursorKeeper()
        let ticket = keeper.add(live: Self.batch([1]), parts: 2)
        keeper.settle(ticket)
        #expect(keeper.cursor == nil)
        keeper.settle(ticket)
        #expect(number(keeper.cursor) == 1)
        keeper.settle(ticket)
        let other = keeper.add(live: Self.batch([2]))
        keeper.settle(ticket)
        #expect(number(keeper.cursor) == 1, "an old ticket settles nothing new")
        keeper.settle(other)
        #expect(number(keeper.cursor) == 2)
        _ = keeper.add(live: Self.batch([3]), parts: 0)
        #expect(number(keeper.cursor) == 3)
    }

    @Test func eventsThatCannotBeCursorsAreWaitedForToo() {
        var keeper = CursorKeeper(saved: Self.cursor(1))
        var givenIDs = Self.batch([5, 6])
        for index in givenIDs.records.indices { givenIDs.records[index].hasServerID = false }
        let without = keeper.add(live: givenIDs)
        keeper.settle(keeper.add(live: Self.batch([2])))
        #expect(number(keeper.cursor) == 1)
        keeper.settle(without)
        #expect(number(keeper.cursor) == 2)
    }

    @Test func nothingIsFetchedWithoutACursor() {
        var keeper = CursorKeeper()
        #expect(keeper.beginCatchUp() == nil && !keeper.isBehind)
        keeper.settle(keeper.add(live: Self.batch([1])))
        #expect(number(keeper.cursor) == 1)
        #expect(number(keeper.beginCatchUp()) == 1)
    }

    @Test func liveEventsWaitForTheEndOfTheCatchUp() {
        var keeper = CursorKeeper(saved: Self.cursor(1))
        #expect(number(keeper.beginCatchUp()) == 1)
        keeper.settle(keeper.add(live: Self.batch([9])))
        #expect(number(keeper.cursor) == 1 && number(keeper.position) == 1)
        keeper.settle(keeper.add(caughtUp: Self.batch([4])))
        #expect(number(keeper.cursor) == 4 && number(keeper.position) == 4)
        let late = keeper.add(live: Self.batch([10]))
        keeper.endCatchUp()
        #expect(number(keeper.cursor) == 9 && number(keeper.position) == 10)
        keeper.settle(late)
        #expect(number(keeper.cursor) == 10)
    }

    @Test func unsettledPageHoldsBackLiveEventsAfterTheEnd() {
        var keeper = CursorKeeper(saved: Self.cursor(1))
        _ = keeper.beginCatchUp()
        keeper.settle(keeper.add(live: Self.batch([9])))
        let page = keeper.add(caughtUp: Self.batch([8]))
        keeper.endCatchUp()
        #expect(number(keeper.cursor) == 1)
        keeper.settle(page)
        #expect(number(keeper.cursor) == 9)
    }

    /// The copy on the page is a duplicate that nobody waits for.
    @Test func pageWaitsForLiveEventsThatCameBeforeIt() {
        var keeper = CursorKeeper(saved: Self.cursor(1))
        _ = keeper.beginCatchUp()
        let live = keeper.add(live: Self.batch([3]))
        _ = keeper.beginCatchUp()
        _ = keeper.add(caughtUp: Self.batch([3]), parts: 0)
        keeper.endCatchUp()
        #expect(number(keeper.cursor) == 1)
        keeper.settle(live)
        #expect(number(keeper.cursor) == 3)
    }

    @Test func liveEventsOfALostConnectionDoNotMoveTheCursor() {
        var keeper = CursorKeeper(saved: Self.cursor(1))
        _ = keeper.beginCatchUp()
        keeper.settle(keeper.add(live: Self.batch([9])))
        #expect(number(keeper.beginCatchUp()) == 1)
        keeper.settle(keeper.add(caughtUp: Self.batch([11])))
        let live = keeper.add(live: Self.batch([12]))
        keeper.endCatchUp()
        #expect(number(keeper.cursor) == 11)
        keeper.settle(live)
        #expect(number(keeper.cursor) == 12)
    }

    @Test func pageBeyondTheLiveEventsIsNotGoneBackFrom() {
        var keeper = CursorKeeper(saved: Self.cursor(1))
        _ = keeper.beginCatchUp()
        let live = keeper.add(live: Self.batch([3, 4]))
        keeper.settle(keeper.add(caughtUp: Self.batch([2, 3, 4, 5])))
        keeper.endCatchUp()
        #expect(number(keeper.cursor) == 1 && number(keeper.position) == 5)
        keeper.settle(live)
        #expect(number(keeper.cursor) == 5)
    }

    @Test func longIdIsNoCursor() {
        var long = Self.batch([2, 3])
        long.storage += [UInt8](repeating: 0x78, count: 1025)
        long.records[1].id = TextRange(offset: UInt32(long.storage.count - 1025), count: 1025)
        #expect(number(StreamCursor(lastOf: long)) == 2)
        #expect(StreamCursor(lastOf: Self.batch([])) == nil)
    }

    @Test func catchUpThatNeverEndsIsRememberedInBounds() {
        var keeper = CursorKeeper(saved: Self.cursor(1))
        _ = keeper.beginCatchUp()
        for number in 2..<10_000 { keeper.settle(keeper.add(live: Self.batch([number]))) }
        #expect(keeper.ticketCount == 0)
        #expect(keeper.candidateCount <= 1)
        keeper.endCatchUp()
        #expect(number(keeper.cursor) == 9_999)
    }
}
