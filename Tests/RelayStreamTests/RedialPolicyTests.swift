import RelayCore
import RelayTestKit
import Testing

@testable import RelayStream

struct RedialPolicyTests {
    @Test(arguments: 0..<20)
    func networkDelaysStayWithinTheirBounds(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var policy = RedialPolicy()
        for attempt in 0..<10_000 {
            let longest = Duration.seconds(min(30, 1 << min(attempt, 10)))
            let delay = policy.delay(after: .network, using: &generator)
            #expect(delay >= longest / 2 && delay <= longest, "seed \(seed), attempt \(attempt): \(delay)")
        }
    }

    @Test(arguments: [Ending.Cause.network, .authOrPolicy, .serverAsksToWait(.seconds(Int64.max))])
    func anyHistoryIsAllowed(_ cause: Ending.Cause) {
        var generator = SeededGenerator(seed: 1)
        for history in [Int.max, Int.max - 1, Int.min, -1, 63, 64, 1 << 40] {
            var policy = RedialPolicy(failures: history, refusals: history)
            for _ in 0..<3 {
                let delay = policy.delay(after: cause, using: &generator)
                #expect(delay >= .milliseconds(500) && delay <= .seconds(3630))
            }
        }
    }

    @Test func brieflyOpenConnectionForgivesNothing() {
        var generator = SeededGenerator(seed: 2)
        var policy = RedialPolicy()
        for _ in 0..<8 { _ = policy.delay(after: .network, using: &generator) }
        policy.connectionLasted(.milliseconds(29_999))
        #expect(policy.delay(after: .network, using: &generator) >= .seconds(15))
    }

    @Test func connectionThatHeldForgivesAll() {
        var generator = SeededGenerator(seed: 3)
        var policy = RedialPolicy()
        for _ in 0..<8 { _ = policy.delay(after: .network, using: &generator) }
        policy.connectionLasted(.seconds(30))
        #expect(policy.delay(after: .network, using: &generator) <= .seconds(1))
    }

    @Test(arguments: 0..<50)
    func refusedTokenMakesFewDialsInAnHour(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var policy = RedialPolicy()
        var time = Duration.zero
        var dials = 0
        while time < .seconds(3600) {
            dials += 1
            let delay = policy.delay(after: .authOrPolicy, using: &generator)
            if dials == 1 { #expect(delay <= .seconds(1), "one prompt retry") }
            if dials > 1 { #expect(delay >= .seconds(285) && delay <= .seconds(300)) }
            time += delay
        }
        #expect(dials <= 15, "seed \(seed)")
    }

    @Test(arguments: [0, 1, 50, 3600, 86_400])
    func hintLengthensAndNeverShortens(_ seconds: Int) {
        var generator = SeededGenerator(seed: 4)
        for failures in [0, 3, 20] {
            var policy = RedialPolicy(failures: failures, refusals: 0)
            let usual = min(30.0, Double(1 << min(failures, 10))) / 2
            let delay = policy.delay(after: .serverAsksToWait(.seconds(seconds)), using: &generator)
            let asked = Duration.seconds(min(seconds, 3600))
            #expect(delay >= asked && delay >= .seconds(usual))
            #expect(delay <= max(asked + .seconds(30), .seconds(30)))
        }
    }

    @Test func negativeHintIsNone() {
        var generator = SeededGenerator(seed: 5)
        var policy = RedialPolicy()
        #expect(policy.delay(after: .serverAsksToWait(.seconds(-5)), using: &generator) >= .milliseconds(500))
    }

    @Test func thousandClientsDoNotComeBackTogether() {
        var buckets = [Int](repeating: 0, count: 5)
        for seed in 0..<1000 {
            var generator = SeededGenerator(seed: UInt64(seed))
            var policy = RedialPolicy()
            let delay = policy.delay(after: .network, using: &generator)
            let index = Int((delay.wholeMilliseconds - 500) / 100)
            buckets[min(4, max(0, index))] += 1
        }
        #expect(buckets.allSatisfy { $0 < 600 }, "\(buckets)")
    }

    @Test(arguments: [
        (401, Ending.Cause.authOrPolicy), (403, .authOrPolicy), (404, .authOrPolicy), (410, .authOrPolicy),
        (301, .authOrPolicy), (302, .authOrPolicy), (308, .authOrPolicy), (200, .network), (400, .network),
        (407, .network), (500, .network), (502, .network), (429, .serverAsksToWait(.seconds(9))),
        (503, .serverAsksToWait(.seconds(9))),
    ])
    func statusGivesCause(_ status: Int, _ cause: Ending.Cause) {
        #expect(Ending.cause(status: status, retryAfter: .seconds(9)) == cause)
    }

    @Test func waitWithoutTimeIsAnOrdinaryFailure() {
        #expect(Ending.cause(status: 429, retryAfter: nil) == .network)
        #expect(Ending.cause(status: 503, retryAfter: nil) == .network)
    }

    @Test func closeCodeGivesCause() {
        #expect(Ending.cause(closeCode: 1008, authCloseCodes: []) == .authOrPolicy)
        #expect(Ending.cause(closeCode: 4001, authCloseCodes: [4001]) == .authOrPolicy)
        for code: UInt16 in [1000, 1001, 1005, 1011, 1012, 4001] {
            #expect(Ending.cause(closeCode: code, authCloseCodes: []) == .network)
        }
    }
}
