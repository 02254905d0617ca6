import RelayCore
import RelayTestKit
import Testing

@testable import RelayStream

/// The machine, without a server and without time.
struct CatchUpTests {
    let now = Instant(milliseconds: 1_000_000)
    var generator = SeededGenerator(seed: 3)

    func machine(
        _ order: CatchUpConfiguration.Order, url: String = "/e?after={cursor}", pages: Int = 20, events: Int = 10_000,
        hasNext: Bool = true
    ) throws -> CatchUp {
        var configuration = try CatchUpFixtures.configuration(order, url: url)
        if !hasNext { configuration.next = nil }
        configuration.maxPages = pages
        configuration.maxEvents = events
        return CatchUp(configuration, policy: RedialPolicy())
    }

    func page(_ numbers: some Sequence<Int>, next: String? = nil, isCut: Bool = false) -> CatchUpPage {
        CatchUpFixtures.page(numbers, next: next, isCut: isCut)
    }

    /// Opens a connection at the time of the event 100 and returns the address that is asked for.
    func open(_ machine: inout CatchUp, from number: Int = 10, lost: Duration? = nil) -> String? {
        let cursor = CatchUpFixtures.cursor(number)
        return address(machine.opened(from: cursor, lost: lost, at: now, wallNow: CatchUpFixtures.time(100)))
    }

    func address(_ step: CatchUp.Step?) -> String? {
        guard case .fetch(let question)? = step else { return nil }
        return String(question.address.reveal().dropFirst("http://127.0.0.1:9".count))
    }

    func fed(_ step: CatchUp.Step) -> [Int]? {
        guard case .feed(let batches) = step else { return nil }
        return CatchUpFixtures.numbers(batches)
    }

    func result(_ step: CatchUp.Step) -> CatchUpResult? {
        guard case .finish(let result) = step else { return nil }
        return result
    }

    func delay(_ step: CatchUp.Step) -> Duration? {
        guard case .wait(let until) = step else { return nil }
        return until - now
    }

    func isRest(_ step: CatchUp.Step) -> Bool {
        if case .rest = step { true } else { false }
    }

    func isNothing(_ step: CatchUp.Step?) -> Bool { step.map { _ in false } ?? true }

    // MARK: Oldest first

    @Test func oldestPagesAreUsedAsTheyCome() throws {
        var machine = try machine(.oldest)
        #expect(open(&machine) == "/e?after=e10")
        #expect(fed(machine.took(page(11...13, next: "http://127.0.0.1:9/p2"))) == [11, 12, 13])
        #expect(address(machine.fed()) == "/p2")
        #expect(fed(machine.took(page(14...14))) == [14])
        #expect(result(machine.fed()) == CatchUpResult(events: 4, pages: 2))
        #expect(machine.isRunning)
        let (isComplete, step) = machine.finished()
        #expect(isComplete && isRest(step) && !machine.isRunning)
    }

    @Test func emptyPageWithANextOneIsPassed() throws {
        var machine = try machine(.oldest)
        _ = open(&machine)
        #expect(address(machine.took(page([Int](), next: "http://127.0.0.1:9/p2"))) == "/p2")
        #expect(result(machine.took(page([Int]()))) == CatchUpResult(events: 0, pages: 2))
    }

    @Test func withoutNextTheLastEventAsksForMore() throws {
        var machine = try machine(.oldest, hasNext: false)
        #expect(open(&machine) == "/e?after=e10")
        _ = machine.took(page(11...12))
        #expect(address(machine.fed()) == "/e?after=e12")
        // A server that begins with the event that it was asked from.
        _ = machine.took(page([12]))
        #expect(result(machine.fed()) == CatchUpResult(events: 3, pages: 2))
    }

    @Test func pageThatNamesItselfIsToldAsAGap() throws {
        var machine = try machine(.oldest)
        _ = open(&machine)
        _ = machine.took(page(11...12, next: "http://127.0.0.1:9/e?after=e10"))
        let gap = result(machine.fed())?.gap
        #expect(gap?.length == .seconds(88) && gap?.reason.contains("gave before") == true)
    }

    @Test func emptyPageThatNamesItselfIsTheEnd() throws {
        var machine = try machine(.oldest)
        _ = open(&machine)
        #expect(result(machine.took(page([Int](), next: "http://127.0.0.1:9/e?after=e10")))?.gap == nil)
    }

    @Test func eventsOfOneTimeThatFillAPageAreToldAsAGap() throws {
        var machine = try machine(.oldest, url: "/e?t={cursorTime}", hasNext: false)
        _ = open(&machine)
        var page = self.page(11...12)
        for index in page.batch.records.indices { page.batch.records[index].createdAt = CatchUpFixtures.time(10) }
        _ = machine.took(page)
        #expect(result(machine.fed())?.gap?.reason.contains("gave before") == true)
    }

    @Test func pagesBeyondTheLimitAreToldAsAGap() throws {
        var machine = try machine(.oldest, pages: 2)
        _ = open(&machine)
        _ = machine.took(page(11...12, next: "http://127.0.0.1:9/p2"))
        _ = machine.fed()
        _ = machine.took(page(13...14, next: "http://127.0.0.1:9/p3"))
        let told = result(machine.fed())
        #expect(told?.events == 4 && told?.pages == 2)
        #expect(told?.gap == .init(length: .seconds(86), reason: "there are more than 2 pages (maxPages)"))
    }

    @Test func eventsBeyondTheLimitAreToldAsAGap() throws {
        var machine = try machine(.oldest, events: 5)
        _ = open(&machine)
        _ = machine.took(page(11...13, next: "http://127.0.0.1:9/p2"))
        guard case .fetch(let question) = machine.fed() else {
            Issue.record("no second page")
            return
        }
        #expect(question.room == 2)
        _ = machine.took(page(14...15, isCut: true))
        #expect(result(machine.fed())?.gap?.length == .seconds(85))
    }

    @Test func limitReachedByTheLastPageIsNoGap() throws {
        var machine = try machine(.oldest, pages: 1, events: 3)
        _ = open(&machine)
        _ = machine.took(page(11...13))
        #expect(result(machine.fed()) == CatchUpResult(events: 3, pages: 1))
    }

    // MARK: Newest first

    @Test func newestPagesAreHeldUntilTheCursorIsFound() throws {
        var machine = try machine(.newest, url: "/e")
        #expect(open(&machine) == "/e")
        #expect(address(machine.took(page([16, 15, 14], next: "http://127.0.0.1:9/p2"))) == "/p2")
        let step = machine.took(page([13, 12, 11, 10, 9], next: "http://127.0.0.1:9/p3"))
        #expect(fed(step) == [11, 12, 13, 14, 15, 16])
        #expect(result(machine.fed()) == CatchUpResult(events: 6, pages: 2))
    }

    @Test func nothingNewIsNothingToFeed() throws {
        var machine = try machine(.newest, url: "/e")
        _ = open(&machine)
        #expect(result(machine.took(page([10, 9]))) == CatchUpResult(events: 0, pages: 1))
    }

    @Test func endWithoutTheCursorIsToldAsAGap() throws {
        var machine = try machine(.newest, url: "/e")
        _ = open(&machine)
        #expect(fed(machine.took(page([16, 15]))) == [15, 16])
        let gap = result(machine.fed())?.gap
        #expect(gap == .init(length: .seconds(5), reason: "the server no longer has the last event of before"))
    }

    @Test func emptyServerIsToldAsAGap() throws {
        var machine = try machine(.newest, url: "/e")
        _ = open(&machine)
        #expect(result(machine.took(page([Int]())))?.gap?.length == .seconds(90))
    }

    @Test func endIsTheEndWhereTheServerWasAskedByCursor() throws {
        var machine = try machine(.newest)
        _ = open(&machine)
        #expect(fed(machine.took(page([16, 15]))) == [15, 16])
        #expect(result(machine.fed())?.gap == nil)
    }

    @Test func onePageThatMayBeOneOfManyIsNoEnd() throws {
        var machine = try machine(.newest, hasNext: false)
        _ = open(&machine)
        _ = machine.took(page([16, 15]))
        #expect(result(machine.fed())?.gap?.length == .seconds(5))
        var other = try self.machine(.newest, hasNext: false)
        _ = open(&other)
        #expect(result(other.took(page([Int]())))?.gap == nil)
    }

    @Test func deletedCursorIsPassedByOlderEvents() throws {
        var machine = try machine(.newest, url: "/e")
        _ = open(&machine)
        // 9 came late and stands among newer ones; 8 and 7 are from before, and maybe from before all time.
        let step = machine.took(page([12, 9, 11, 8, 7]))
        #expect(fed(step) == [11, 9, 12])
        #expect(result(machine.fed())?.gap == nil)
    }

    @Test func pageOfOlderEventsEndsTheSearch() throws {
        var machine = try machine(.newest, url: "/e")
        _ = open(&machine)
        _ = machine.took(page([12, 11], next: "http://127.0.0.1:9/p2"))
        #expect(fed(machine.took(page([9, 8], next: "http://127.0.0.1:9/p3"))) == [11, 12])
        #expect(result(machine.fed())?.gap == nil)
    }

    @Test func newestBeyondTheLimitsAreUsedAndTheGapTold() throws {
        var pages = try machine(.newest, url: "/e", pages: 1)
        _ = open(&pages)
        #expect(fed(pages.took(page([16, 15], next: "http://127.0.0.1:9/p2"))) == [15, 16])
        #expect(result(pages.fed())?.gap?.length == .seconds(5))
        var events = try machine(.newest, url: "/e", events: 2)
        _ = open(&events)
        #expect(fed(events.took(page([18, 17], isCut: true))) == [17, 18])
        #expect(result(events.fed())?.gap?.length == .seconds(7))
        var circle = try machine(.newest, url: "/e")
        _ = open(&circle)
        #expect(fed(circle.took(page([16, 15], next: "http://127.0.0.1:9/e"))) == [15, 16])
        #expect(result(circle.fed())?.gap?.reason.contains("gave before") == true)
    }

    @Test func heldBytesAreBounded() throws {
        var machine = try machine(.newest, url: "/e", pages: 1000)
        _ = open(&machine)
        var pages = 0
        while pages < 1000 {
            var page = self.page([900 - pages], next: "http://127.0.0.1:9/p\(pages)")
            page.batch.storage += [UInt8](repeating: 0x20, count: 8 << 20)
            pages += 1
            if case .feed = machine.took(page) { break }
        }
        #expect(pages == 4)
        #expect(result(machine.fed())?.gap?.reason == "there are more than 32 MiB of events")
    }

    // MARK: Connections

    @Test func connectionLostMeanwhileCallsForAnotherRun() throws {
        var machine = try machine(.oldest)
        _ = open(&machine)
        machine.closed()
        #expect(open(&machine, from: 99) == nil)
        _ = machine.took(page(11...12))
        #expect(result(machine.fed()) == CatchUpResult(events: 2, pages: 1))
        let first = machine.finished()
        #expect(!first.isComplete && address(first.step) == "/e?after=e12")
        _ = machine.took(page([Int]()))
        #expect(machine.finished().isComplete)
    }

    @Test func withoutAConnectionTheRestWaitsForOne() throws {
        var machine = try machine(.oldest)
        _ = open(&machine)
        machine.closed()
        _ = machine.took(page(11...12))
        _ = machine.fed()
        let (isComplete, step) = machine.finished()
        #expect(!isComplete && isRest(step))
        #expect(open(&machine, from: 12) == "/e?after=e12")
    }

    /// Between the end and the telling of it.
    @Test func connectionLostAtTheLastMomentCountsToo() throws {
        var machine = try machine(.oldest)
        _ = open(&machine)
        _ = machine.took(page([Int]()))
        machine.closed()
        #expect(isNothing(machine.opened(from: CatchUpFixtures.cursor(10), lost: nil, at: now, wallNow: now)))
        let (isComplete, step) = machine.finished()
        #expect(!isComplete && address(step) == "/e?after=e10")
    }

    @Test func retryWaitsForAConnection() throws {
        var (machine, generator) = (try machine(.oldest), generator)
        _ = open(&machine)
        _ = machine.failed(Ending(.network, "no"), status: nil, at: now, using: &generator)
        machine.closed()
        #expect(isRest(machine.waited(at: .distantFuture)))
        #expect(open(&machine) == "/e?after=e10")
    }

    @Test func connectionEndsAWaitForTheNetworkOnly() throws {
        var (machine, generator) = (try machine(.oldest), generator)
        _ = open(&machine)
        for _ in 0..<6 {
            _ = machine.failed(Ending(.network, "no"), status: nil, at: now, using: &generator)
            _ = machine.waited(at: .distantFuture)
        }
        _ = machine.failed(Ending(.network, "no"), status: nil, at: now, using: &generator)
        machine.closed()
        let cursor = CatchUpFixtures.cursor(10)
        let early = machine.opened(from: cursor, lost: nil, at: now, wallNow: now)
        // Not closer to the last try than the base delay, or a connection that flaps would hammer.
        #expect(early.flatMap(delay) == .seconds(1))
        #expect(address(machine.waited(at: now + .seconds(1))) == "/e?after=e10")
        _ = machine.failed(Ending(.serverAsksToWait(.seconds(90)), "slow"), status: 429, at: now, using: &generator)
        machine.closed()
        #expect(isNothing(machine.opened(from: cursor, lost: nil, at: now + .seconds(20), wallNow: now)))
    }

    @Test func newTokenEndsAWaitForIt() throws {
        var (machine, generator) = (try machine(.oldest), generator)
        _ = open(&machine)
        #expect(isNothing(machine.tokenChanged(at: now)))
        for _ in 0..<3 {
            _ = machine.failed(Ending(.authOrPolicy, "401"), status: 401, at: now, using: &generator)
            _ = machine.waited(at: .distantFuture)
        }
        let step = machine.failed(Ending(.authOrPolicy, "401"), status: 401, at: now, using: &generator)
        #expect(try #require(delay(step)) >= .seconds(285))
        #expect(address(machine.tokenChanged(at: now + .seconds(5))) == "/e?after=e10")
    }

    @Test func whatHasNoEdgeChangesNothing() throws {
        var (machine, generator) = (try machine(.oldest), generator)
        #expect(isRest(machine.took(page(1...2))))
        #expect(isRest(machine.failed(Ending(.network, ""), status: nil, at: now, using: &generator)))
        #expect(isRest(machine.fed()) && isRest(machine.waited(at: now)) && isRest(machine.finished().step))
        machine.closed()
        #expect(!machine.isRunning)
        #expect(open(&machine) == "/e?after=e10")
        #expect(isRest(machine.fed()) && isRest(machine.waited(at: now)) && isRest(machine.finished().step))
        #expect(fed(machine.took(page(11...11))) == [11])
    }
}
