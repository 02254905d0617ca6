import RelayCore
import Testing

@testable import RelayStream

struct LivenessTests {
    private let start = Instant(milliseconds: 5_000_000)

    private func liveness() -> Liveness {
        Liveness(ping: .seconds(30), pongTimeout: .seconds(10), at: start)
    }

    private func at(_ seconds: Double) -> Instant { start + .seconds(seconds) }

    @Test func silenceCallsForPingAndThenAbort() {
        var liveness = liveness()
        #expect(liveness.tick(at: start) == .wait(until: at(30)))
        #expect(liveness.tick(at: at(30)) == .sendPing)
        #expect(liveness.tick(at: at(30)) == .wait(until: at(40)))
        #expect(liveness.tick(at: at(40)) == .abort)
    }

    @Test func anyByteIsLife() {
        var liveness = liveness()
        _ = liveness.tick(at: start)
        _ = liveness.tick(at: at(30))
        #expect(liveness.tick(at: at(30)) == .wait(until: at(40)))
        let isVoid = liveness.heard(at: at(39))
        #expect(isVoid)
        #expect(liveness.tick(at: at(39)) == .wait(until: at(69)))
    }

    @Test func quietConnectionWakesOnceInAnInterval() {
        var liveness = liveness()
        var now = start
        var wakes = 0
        while now < at(3600) {
            switch liveness.tick(at: now) {
            case .wait(let deadline):
                wakes += 1
                now = deadline
            case .sendPing:
                // The deadline of the pong is void as soon as the pong is there.
                let isVoid = liveness.heard(at: now + .milliseconds(20))
                #expect(isVoid)
            case .abort, .takeWhatIsHeld: Issue.record("the connection lives")
            }
        }
        #expect(wakes <= 121)
    }

    @Test func busyConnectionIsNeitherPingedNorWoken() {
        var liveness = liveness()
        #expect(liveness.tick(at: start) == .wait(until: at(30)))
        for second in 1..<30 {
            let isVoid = liveness.heard(at: at(Double(second)))
            #expect(!isVoid)
        }
        #expect(liveness.tick(at: at(30)) == .wait(until: at(59)))
    }

    @Test func pausedConnectionIsNotJudged() {
        var liveness = liveness()
        _ = liveness.tick(at: start)
        liveness.pause()
        #expect(liveness.tick(at: at(1000)) == .wait(until: .distantFuture))
        liveness.resume(at: at(1000))
        #expect(liveness.tick(at: at(1000)) == .wait(until: at(1030)))
    }

    @Test func lateWakeMeansAway() {
        var liveness = liveness()
        _ = liveness.tick(at: start)
        #expect(liveness.tick(at: at(3600)) == .takeWhatIsHeld)
        #expect(liveness.returned(foundBytes: false, at: at(3600)) == .abort)
    }

    @Test func bytesFoundAfterReturnAreProvedByPing() {
        var liveness = liveness()
        _ = liveness.tick(at: start)
        #expect(liveness.tick(at: at(3600)) == .takeWhatIsHeld)
        _ = liveness.heard(at: at(3600))
        #expect(liveness.returned(foundBytes: true, at: at(3600)) == .sendPing)
        #expect(liveness.tick(at: at(3600)) == .wait(until: at(3610)))
        #expect(liveness.tick(at: at(3610)) == .abort)
    }

    @Test func pongDeadlineMissedByMuchMeansAwayToo() {
        var liveness = liveness()
        _ = liveness.tick(at: start)
        _ = liveness.tick(at: at(30))
        _ = liveness.tick(at: at(30))
        #expect(liveness.tick(at: at(900)) == .takeWhatIsHeld)
    }

    @Test func slightlyLateWakeIsOrdinary() {
        var liveness = liveness()
        _ = liveness.tick(at: start)
        #expect(liveness.tick(at: at(39)) == .sendPing)
        #expect(liveness.tick(at: at(39)) == .wait(until: at(49)))
    }
}
