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
        let by: [KeyField] = Bool.random(using: &random) ? [.actor] : []
        let hasDigest = Bool.random(using: &random)
        var policy = self.policy(by, hasDigest: hasDigest, using: &random)
        let isSmall = Bool.random(using: &random)
        let bounds = LedgerBounds(groups: isSmall ? 2 : 100, limitKeys: Bool.random(using: &random) ? 1 : 100)
        var ledger = Ledger(plan: plan(policy), bounds: bounds)
        var store = RecordingStore()
        var epochs = [Epoch(policy.limit, from: 0)]
        var now = Moment(Instant(milliseconds: 1_900_000_000_000))
        for step in 0..<80 {
            // Bursts at the edges of stretches, a moment before and after, and steps of the wall clock.
            let per = policy.limit?.per.wholeMilliseconds ?? 0
            now.relay = now.relay + .milliseconds([0, 1, 1000, per, per - 1].randomElement(using: &random) ?? 0)
            now.wall = now.wall + .seconds(Int.random(in: -5000...5000, using: &random))
            try ledger.advance(to: now, into: &store)
            if Int.random(in: 0..<10, using: &random) == 0 {
                policy = self.policy(by, hasDigest: hasDigest, using: &random)
                epochs.append(Epoch(policy.limit, from: store.records.count))
                try ledger.adopt(plan(policy), at: now, into: &store)
            }
            for number in 0..<Int.random(in: 0...4, using: &random) {
                let event = RandomPlan.event("\(step)-\(number)", at: now.wall, using: &random)
                let effect = Effect(rule: 0, sink: 0, action: .deliver)
                _ = try ledger.accept(Intake(event: event, effects: [effect]), at: now, into: &store)
            }
            if Bool.random(using: &random) { store.settleAll() }
        }
        check(store, epochs, by, "seed \(seed)")
    }

    /// What was stored since a limit came into force.
    private struct Epoch {
        let limit: LimitPolicy
        let from: Int

        init(_ limit: LimitPolicy?, from: Int) {
            self.limit = limit ?? LimitPolicy(max: 1, per: .seconds(1))
            self.from = from
        }

        /// Whether what a former limit remembers is all that this one has to know.
        func follows(_ former: Epoch) -> Bool { limit.max <= former.limit.max && limit.per <= former.limit.per }
    }

    private func policy(_ by: [KeyField], hasDigest: Bool, using random: inout SeededGenerator) -> EffectPolicy {
        let limit = LimitPolicy(
            max: Int.random(in: 1...4, using: &random), per: .seconds(Int.random(in: 5...60, using: &random)),
            by: by, excess: Bool.random(using: &random) ? .drop : .digest)
        var policy = EffectPolicy(rule: "r", limit: limit, sinks: [0])
        if hasDigest {
            policy.digest = DigestPolicy(
                by: by + [.post], timing: .window(.seconds(Int.random(in: 1...90, using: &random))),
                max: Bool.random(using: &random) ? 3 : nil, sendsFirst: Bool.random(using: &random))
        }
        return policy
    }

    private func plan(_ policy: EffectPolicy) -> EffectPlan {
        EffectPlan(
            policies: [policy], sinkNames: ["x"], times: [:], renderer: ListingRenderer(policies: [policy]))
    }

    private func check(_ store: RecordingStore, _ epochs: [Epoch], _ by: [KeyField], _ place: Comment) {
        for (number, epoch) in epochs.enumerated() {
            var first = number
            while first > 0, epochs[first].follows(epochs[first - 1]) { first -= 1 }
            let end = number + 1 < epochs.count ? epochs[number + 1].from : store.records.count
            for (key, times) in notices(store.records[epochs[first].from..<end], by) {
                for (index, time) in times.enumerated() where index >= epoch.limit.max && time.place >= epoch.from {
                    let distance = time.at - times[index - epoch.limit.max].at
                    #expect(distance >= epoch.limit.per, "\(place), key \(key)")
                }
            }
        }
    }

    /// When the notices of each key were stored.
    private func notices(
        _ records: ArraySlice<RecordingStore.Record>, _ by: [KeyField]
    ) -> [String: [(at: Instant, place: Int)]] {
        var times: [String: [(at: Instant, place: Int)]] = [:]
        for (place, record) in zip(records.indices, records) {
            times[key(of: record.delivery, by), default: []].append((record.at, place))
        }
        return times
    }

    private func key(of delivery: Delivery, _ by: [KeyField]) -> String {
        switch delivery.content {
        case .event(let event):
            if by.isEmpty { return "" }
            return KeyField.actor.form(in: event).map { String(decoding: $0, as: UTF8.self) } ?? "-"
        case .digest(let summary), .briefing(let summary):
            // The first of its fields is the actor.
            let label = summary.key.string
            if label == "others" { return label }
            return by.isEmpty ? "" : label.split(separator: ",").first.map { $0.lowercased() } ?? ""
        }
    }
}
