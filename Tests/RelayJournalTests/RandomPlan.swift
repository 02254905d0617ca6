import GLibRuntime
import RelayCore
import RelayTestKit

/// Draws rules, sinks and times for properties.
struct RandomPlan {
    private static let zone = Zone(named: "Europe/Berlin")
    private static let allFields = KeyField.allCases

    /// The longest window, stretch or repeat that is drawn.
    static let longest = Duration.seconds(120)

    static func plan(using random: inout SeededGenerator) -> EffectPlan {
        let sinks = ["x", "y", "z"].shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
        let names = ["q", "r", "s", "t"].shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
        let policies = names.map { policy($0, sinks: sinks.count, using: &random) }
        var times: [String: QuietTime] = [:]
        for name in ["night", "noon"] where Int.random(in: 0..<4, using: &random) > 0 {
            times[name] = time(using: &random)
        }
        return EffectPlan(
            policies: policies, sinkNames: Array(sinks), times: times, renderer: ListingRenderer(policies: policies))
    }

    /// Returns a plan in which one rule has another limit or another word, and keeps its digests unless the limit is theirs.
    static func edited(_ plan: EffectPlan, using random: inout SeededGenerator) -> EffectPlan {
        var plan = plan
        let place = Int.random(in: plan.policies.indices, using: &random)
        var policy = plan.policies[place]
        switch Int.random(in: 0..<6, using: &random) {
        case 0: policy.limit = policy.limit == nil ? limit(using: &random) : nil
        case 1: policy.limit?.max = Int.random(in: 1...4, using: &random)
        case 2: policy.limit?.per = duration(using: &random)
        case 3: policy.limit?.by = (policy.digest?.by ?? allFields).filter { _ in Bool.random(using: &random) }
        case 4: policy.hold = policy.hold == nil ? "night" : nil
        default: policy.digest?.sendsFirst.toggle()
        }
        plan.policies[place] = policy
        plan.renderer = ListingRenderer(policies: plan.policies)
        return plan
    }

    static func policy(_ name: String, sinks: Int, using random: inout SeededGenerator) -> EffectPolicy {
        var policy = EffectPolicy(rule: name, sinks: Array(0..<sinks))
        if Bool.random(using: &random) { policy.limit = limit(using: &random) }
        if Bool.random(using: &random) { policy.digest = digest(including: policy.limit?.by ?? [], using: &random) }
        if Int.random(in: 0..<3, using: &random) == 0 { policy.hold = Bool.random(using: &random) ? "night" : "noon" }
        if Int.random(in: 0..<4, using: &random) == 0 {
            policy.repeat = RepeatPolicy(by: fields(using: &random), within: duration(using: &random))
        }
        return policy
    }

    static func limit(using random: inout SeededGenerator) -> LimitPolicy {
        LimitPolicy(
            max: Int.random(in: 1...4, using: &random), per: duration(using: &random), by: fields(using: &random),
            excess: Bool.random(using: &random) ? .drop : .digest)
    }

    static func digest(including by: [KeyField], using random: inout SeededGenerator) -> DigestPolicy {
        var timing = DigestPolicy.Timing.window(duration(using: &random))
        if let zone, Int.random(in: 0..<4, using: &random) == 0 {
            timing = .at(DailyTimes(minutes: (0..<3).map { _ in Int.random(in: 0..<1440, using: &random) }, zone: zone))
        }
        return DigestPolicy(
            by: Array(Set(by + fields(using: &random))), timing: timing,
            max: Bool.random(using: &random) ? Int.random(in: 1...5, using: &random) : nil,
            sendsFirst: Bool.random(using: &random))
    }

    static func event(_ id: String, at now: Instant, using random: inout SeededGenerator) -> Event {
        Fixtures.event(
            id: id, kind: Bool.random(using: &random) ? "like" : "comment",
            actor: ["ann", "ANN", "bo", "cy", nil].randomElement(using: &random) ?? nil,
            post: ["p", "q", nil].randomElement(using: &random) ?? nil, at: now)
    }

    static func duration(using random: inout SeededGenerator) -> Duration {
        .seconds(Int.random(in: 1...120, using: &random))
    }

    private static func fields(using random: inout SeededGenerator) -> [KeyField] {
        allFields.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
    }

    private static func time(using random: inout SeededGenerator) -> QuietTime? {
        guard let zone else { return nil }
        let from = Int.random(in: 0..<1440, using: &random)
        let to = (from + Int.random(in: 1..<1440, using: &random)) % 1440
        return QuietTime(from: from, to: to, zone: zone)
    }
}
