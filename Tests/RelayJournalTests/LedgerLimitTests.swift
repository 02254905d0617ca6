import RelayCore
import RelayJournal
import RelayTestKit
import Testing

/// No stretch of `per` ever holds more than `max` notices of a key.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct LedgerLimitTests {
    @Test(arguments: 0..<20)
    func noStretchHoldsMoreThanItsDue(block: UInt64) async throws {
        for seed in block * 50..<(block + 1) * 50 {
            try check(seed)
            // Tests beside this one wait for real sockets.
            await Task.yield()
        }
    }

    private func check(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let limit = LimitPolicy(
            max: Int.random(in: 1...4, using: &random), per: .seconds(Int.random(in: 5...60, using: &random)),
            by: Bool.random(using: &random) ? [.actor] : [], excess: Bool.random(using: &random) ? .drop : .digest)
        var policy = EffectPolicy(rule: "r", limit: limit, sinks: [0])
        if Bool.random(using: &random) {
            policy.digest = DigestPolicy(
                by: limit.by + [.post], timing: .window(.seconds(Int.random(in: 1...90, using: &random))),
                max: Bool.random(using: &random) ? 3 : nil, sendsFirst: Bool.random(using: &random))
        }
        let isSmall = Bool.random(using: &random)
        let bounds = LedgerBounds(groups: isSmall ? 2 : 100, limitKeys: Bool.random(using: &random) ? 1 : 100)
        let plan = EffectPlan(
            policies: [policy], sinkNames: ["x"], times: [:], renderer: ListingRenderer(policies: [policy]))
        var ledger = Ledger(plan: plan, bounds: bounds)
        var store = RecordingStore()
        var now = Moment(Instant(milliseconds: 1_900_000_000_000))
        for step in 0..<80 {
            // Bursts at the edges of stretches, a moment before and after, and steps of the wall clock.
            let edges = [0, 1, 1000, limit.per.wholeMilliseconds, limit.per.wholeMilliseconds - 1]
            now.relay = now.relay + .milliseconds(edges.randomElement(using: &random) ?? 0)
            now.wall = now.wall + .seconds(Int.random(in: -5000...5000, using: &random))
            try ledger.advance(to: now, into: &store)
            for number in 0..<Int.random(in: 0...4, using: &random) {
                let event = RandomPlan.event("\(step)-\(number)", at: now.wall, using: &random)
                let effect = Effect(rule: 0, sink: 0, action: .deliver)
                _ = try ledger.accept(Intake(event: event, effects: [effect]), at: now, into: &store)
            }
            if Bool.random(using: &random) { store.settleAll() }
        }
        for (key, times) in notices(store, limit) {
            for (index, time) in times.enumerated() where index >= limit.max {
                #expect(time - times[index - limit.max] >= limit.per, "seed \(seed), key \(key)")
            }
        }
    }

    /// When the notices of each key were stored.
    private func notices(_ store: RecordingStore, _ limit: LimitPolicy) -> [String: [Instant]] {
        var times: [String: [Instant]] = [:]
        for record in store.records { times[key(of: record.delivery, limit), default: []].append(record.at) }
        return times
    }

    private func key(of delivery: Delivery, _ limit: LimitPolicy) -> String {
        switch delivery.content {
        case .event(let event):
            if limit.by.isEmpty { return "" }
            return KeyField.actor.form(in: event).map { String(decoding: $0, as: UTF8.self) } ?? "-"
        case .digest(let summary), .briefing(let summary):
            // The first of its fields is the actor.
            let label = summary.key.string
            if label == "others" { return label }
            return limit.by.isEmpty ? "" : label.split(separator: ",").first.map { $0.lowercased() } ?? ""
        }
    }
}
