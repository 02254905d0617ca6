import RelayCore
import Testing

@testable import RelayStream

/// Pages that do not come.
extension CatchUpTests {
    @Test func failureIsRetriedWithTheRedialPolicy() throws {
        var (machine, generator) = (try machine(.oldest), generator)
        _ = open(&machine)
        for round in 0..<8 {
            let step = machine.failed(Ending(.network, "no"), status: 500, at: now, using: &generator)
            let longest = Duration.seconds(min(30, 1 << round))
            let wait = try #require(delay(step))
            #expect(wait >= longest / 2 && wait <= longest)
            guard case .wait(let again) = machine.waited(at: now) else {
                Issue.record("too early")
                return
            }
            #expect(address(machine.waited(at: again)) == "/e?after=e10")
        }
        let asked = machine.failed(
            Ending(.serverAsksToWait(.seconds(50)), "slow"), status: 429, at: now, using: &generator)
        #expect(try #require(delay(asked)) >= .seconds(50))
    }

    @Test func whatHelpedEndsTheLongWaits() throws {
        var (machine, generator) = (try machine(.oldest), generator)
        _ = open(&machine)
        for _ in 0..<8 {
            guard
                case .wait(let until) = machine.failed(Ending(.network, "no"), status: nil, at: now, using: &generator)
            else { continue }
            _ = machine.waited(at: until)
        }
        _ = machine.took(page(11...12, next: "http://127.0.0.1:9/p2"))
        _ = machine.fed()
        let step = machine.failed(Ending(.network, "no"), status: nil, at: now, using: &generator)
        #expect(try #require(delay(step)) <= .seconds(1))
        // It goes on where it was.
        #expect(address(machine.waited(at: .distantFuture)) == "/e?after=e12")
    }

    @Test func retriesDoNotRaiseTheLimits() throws {
        var (machine, generator) = (try machine(.oldest, pages: 2, events: 5), generator)
        _ = open(&machine)
        _ = machine.took(page(11...13, next: "http://127.0.0.1:9/p2"))
        _ = machine.fed()
        _ = machine.failed(Ending(.network, "no"), status: nil, at: now, using: &generator)
        guard case .fetch(let question) = machine.waited(at: .distantFuture) else {
            Issue.record("no retry")
            return
        }
        #expect(question.room == 2)
        _ = machine.took(page(14...14, next: "http://127.0.0.1:9/p3"))
        #expect(
            result(machine.fed())
                == CatchUpResult(
                    events: 4, pages: 2,
                    gap: .init(length: .seconds(86), reason: "there are more than 2 pages (maxPages)")))
    }

    @Test(arguments: [404, 410])
    func forgottenCursorIsToldAsAGap(_ status: Int) throws {
        var (machine, generator) = (try machine(.oldest), generator)
        _ = open(&machine)
        let step = machine.failed(Ending(.authOrPolicy, "\(status)"), status: status, at: now, using: &generator)
        #expect(result(step) == CatchUpResult(gap: .init(length: .seconds(90), reason: "\(status)")))
        #expect(machine.finished().isComplete)
    }

    @Test func laterPageThatIsNotFoundIsAFailureOfTheOldestOrder() throws {
        var (machine, generator) = (try machine(.oldest), generator)
        _ = open(&machine)
        _ = machine.took(page(11...12, next: "http://127.0.0.1:9/p2"))
        _ = machine.fed()
        let step = machine.failed(Ending(.authOrPolicy, "404"), status: 404, at: now, using: &generator)
        #expect(delay(step) != nil)
        var newest = try self.machine(.newest, url: "/e")
        _ = open(&newest)
        _ = newest.took(page([16, 15], next: "http://127.0.0.1:9/p2"))
        let end = newest.failed(Ending(.authOrPolicy, "404"), status: 404, at: now, using: &generator)
        #expect(fed(end) == [15, 16])
        #expect(result(newest.fed())?.gap?.length == .seconds(5))
    }

    @Test func sameGapIsToldWithWhatIsNewOfIt() throws {
        var (machine, generator) = (try machine(.oldest), generator)
        _ = open(&machine)
        _ = machine.failed(Ending(.authOrPolicy, "404"), status: 404, at: now, using: &generator)
        _ = machine.finished()
        machine.closed()
        _ = open(&machine, lost: .seconds(7))
        let step = machine.failed(Ending(.authOrPolicy, "404"), status: 404, at: now, using: &generator)
        #expect(result(step)?.gap?.length == .seconds(7))
    }

    @Test func hugeCursorIsToldAsAGap() throws {
        var machine = try machine(.oldest)
        let huge = UntrustedText(String(repeating: "x", count: 9000))
        let cursor = StreamCursor(id: huge, createdAt: CatchUpFixtures.time(10))
        let step = machine.opened(from: cursor, lost: nil, at: now, wallNow: CatchUpFixtures.time(100))
        #expect(step.flatMap(result)?.gap?.length == .seconds(90))
    }
}
