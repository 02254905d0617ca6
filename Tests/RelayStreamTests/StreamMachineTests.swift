import RelayCore
import RelayTestKit
import Testing

@testable import RelayStream

/// One test for each edge of the machine, and one for the edges that are not there.
struct StreamMachineTests {
    private let start = Instant(milliseconds: 1_000_000)
    private let network = Ending(.network, "reset")
    private let refusal = Ending(.authOrPolicy, "401")
    private var generator = SeededGenerator(seed: 7)

    private func machine() -> StreamMachine {
        StreamMachine(policy: RedialPolicy(), at: start)
    }

    private func connecting() -> StreamMachine {
        var machine = machine()
        #expect(machine.start(at: start) == .dial)
        return machine
    }

    private func connected() -> StreamMachine {
        var machine = connecting()
        #expect(machine.opened(at: start) == .run)
        return machine
    }

    private mutating func reconnecting(_ ending: Ending) -> StreamMachine {
        var machine = connecting()
        _ = machine.ended(ending, at: start, using: &generator)
        return machine
    }

    private func dialAt(_ machine: StreamMachine) -> Instant? {
        guard case .reconnecting(_, let dialAt, _) = machine.state else { return nil }
        return dialAt
    }

    @Test func startDials() {
        #expect(connecting().state == .connecting(.started))
        #expect(connecting().attempts == 1)
    }

    @Test func answerOpens() {
        #expect(connected().state == .connected(.started))
        #expect(connected().attempts == 0)
    }

    @Test mutating func failedDialWaits() {
        var machine = connecting()
        let step = machine.ended(network, at: start, using: &generator)
        #expect(step == dialAt(machine).map { .wait(until: $0) })
        #expect(machine.attempts == 1)
    }

    @Test mutating func lostConnectionWaits() {
        var machine = connected()
        let step = machine.ended(network, at: start + .seconds(5), using: &generator)
        #expect(step == dialAt(machine).map { .wait(until: $0) })
        #expect(machine.since == start + .seconds(5))
    }

    @Test func returnFromSuspendDialsAtOnce() {
        var machine = connected()
        #expect(machine.away(at: start + .seconds(3600)) == .dial)
        #expect(machine.state == .connecting(.wasAway))
    }

    @Test mutating func waitEndsInDial() throws {
        var machine = reconnecting(network)
        let due = try #require(dialAt(machine))
        #expect(machine.waited(at: due + .milliseconds(-1)) == .wait(until: due))
        #expect(machine.waited(at: due) == .dial)
        #expect(machine.state == .connecting(.waitOver))
        #expect(machine.attempts == 2)
    }

    @Test mutating func waitThatSleptThroughSuspendEndsAtOnce() {
        var machine = reconnecting(network)
        #expect(machine.waited(at: start + .seconds(3600)) == .dial)
    }

    @Test mutating func networkEndsItsOwnWait() {
        var machine = connected()
        _ = machine.ended(network, at: start + .seconds(20), using: &generator)
        #expect(machine.networkBack(at: start + .seconds(20)) == .dial)
        #expect(machine.state == .connecting(.networkBack))
    }

    @Test mutating func flappingNetworkDoesNotHammer() {
        var machine = connecting()
        var dials = 1
        var now = start
        for _ in 0..<600 {
            _ = machine.ended(network, at: now, using: &generator)
            if machine.networkBack(at: now) == .dial { dials += 1 }
            if machine.waited(at: now) == .dial { dials += 1 }
            now = now + .milliseconds(100)
        }
        #expect(dials <= 61, "at most one dial in the base delay")
    }

    @Test(arguments: [Ending.Cause.authOrPolicy, .serverAsksToWait(.seconds(50))])
    func networkDoesNotEndOtherWaits(_ cause: Ending.Cause) {
        var generator = SeededGenerator(seed: 7)
        var machine = connecting()
        _ = machine.ended(Ending(cause, "no"), at: start, using: &generator)
        let before = machine
        #expect(machine.networkBack(at: start + .milliseconds(10)) == nil)
        #expect(machine == before)
    }

    @Test mutating func newTokenEndsRefusal() {
        var machine = reconnecting(refusal)
        _ = machine.waited(at: start + .seconds(2))
        _ = machine.ended(refusal, at: start + .seconds(2), using: &generator)
        #expect(machine.policy.isRefused)
        #expect(machine.tokenChanged(at: start + .seconds(10)) == .dial)
        #expect(machine.state == .connecting(.tokenChanged))
        #expect(!machine.policy.isRefused)
    }

    @Test mutating func newTokenRightAfterDialWaitsForBaseDelay() {
        var machine = connecting()
        _ = machine.ended(refusal, at: start, using: &generator)
        _ = machine.waited(at: start + .seconds(2))
        _ = machine.ended(refusal, at: start + .seconds(2), using: &generator)
        #expect(machine.tokenChanged(at: start + .milliseconds(2100)) == .wait(until: start + .seconds(3)))
        #expect(machine.waited(at: start + .seconds(3)) == .dial)
        #expect(machine.state == .connecting(.tokenChanged))
    }

    @Test mutating func tokenThatChangesDuringDialGetsPromptRetry() throws {
        var machine = reconnecting(refusal)
        _ = machine.waited(at: start + .seconds(2))
        #expect(machine.tokenChanged(at: start + .seconds(2)) == nil)
        _ = machine.ended(refusal, at: start + .seconds(2), using: &generator)
        #expect(try #require(dialAt(machine)) <= start + .seconds(3))
    }

    @Test mutating func newTokenDoesNotEndNetworkWait() {
        var machine = reconnecting(network)
        #expect(machine.tokenChanged(at: start + .milliseconds(1)) == nil)
    }

    @Test mutating func stopEndsEveryState() {
        for var machine in [machine(), connecting(), connected(), reconnecting(network)] {
            #expect(machine.stop(at: start) == .finish)
            #expect(machine.state == .disconnected(.stopped))
        }
    }

    @Test mutating func stoppedIsFinal() {
        var machine = connected()
        _ = machine.stop(at: start)
        let before = machine
        #expect(machine.start(at: start) == nil)
        #expect(machine.opened(at: start) == nil)
        #expect(machine.ended(network, at: start, using: &generator) == nil)
        #expect(machine.away(at: start) == nil)
        #expect(machine.waited(at: start) == nil)
        #expect(machine.networkBack(at: start) == nil)
        #expect(machine.tokenChanged(at: start) == nil)
        #expect(machine.stop(at: start) == nil)
        #expect(machine == before)
    }

    @Test mutating func forbiddenEdgesChangeNothing() {
        var resting = machine()
        #expect(resting.opened(at: start) == nil)
        #expect(resting.ended(network, at: start, using: &generator) == nil)
        #expect(resting.away(at: start) == nil)
        #expect(resting.waited(at: start) == nil)
        #expect(resting == machine())
        var dialling = connecting()
        #expect(dialling.start(at: start) == nil)
        #expect(dialling.away(at: start) == nil)
        #expect(dialling.waited(at: start) == nil)
        #expect(dialling.networkBack(at: start) == nil)
        #expect(dialling == connecting())
        var open = connected()
        #expect(open.start(at: start) == nil)
        #expect(open.opened(at: start) == nil)
        #expect(open.waited(at: start) == nil)
        #expect(open.networkBack(at: start) == nil)
        #expect(open == connected())
        var waiting = reconnecting(network)
        let before = waiting
        #expect(waiting.start(at: start) == nil)
        #expect(waiting.opened(at: start) == nil)
        #expect(waiting.ended(network, at: start, using: &generator) == nil)
        #expect(waiting.away(at: start) == nil)
        #expect(waiting == before)
    }
}
