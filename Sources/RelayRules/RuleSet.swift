internal import GLibRuntime
package import RelayCore

/// The rules of a file, ready to decide.
///
/// A rule set that exists is valid. Deciding and rendering need no clock and do no I/O; the only state is a counter of
/// patterns that gave up.
package final class RuleSet: Sendable {
    /// The rules in the order of the file.
    package let rules: [Rule]
    /// The names of the sinks in the order of the file.
    package let sinkNames: [String]
    /// The link templates of the streams, by name.
    package let streamLinks: [String: LinkTemplate]
    /// The times by name.
    package let times: [String: QuietTime]
    /// The rules' conditions as written, for `explain`.
    let written: [WrittenCondition?]
    /// The places of the rules by name.
    let places: [String: Int]

    /// What deciding reads of a rule, flat so that it costs no reference counting.
    private struct Step: BitwiseCopyable {
        var firstSink: UInt32
        var endOfSinks: UInt32
        var isDrop: Bool
        var isContinued: Bool
        var isConditional: Bool
    }

    private let steps: [Step]
    private let stepSinks: [Int]
    private let conditions: [Condition]
    private let index: RuleIndex
    private let overruns: Locked<[Int]>
    /// What is on when; nil if no condition asks for a time.
    private let clock: TimeClock?

    /// Creates a rule set of the rules of a file and its times.
    init(
        _ rules: [ReadRule], sinkNames: [String], streamLinks: [String: LinkTemplate], times: ReadTimes = ReadTimes()
    ) {
        self.rules = rules.map(\.rule)
        self.sinkNames = sinkNames
        self.streamLinks = streamLinks
        self.times = times.times
        written = rules.map(\.when)
        places = Dictionary(zip(self.rules.map(\.name), self.rules.indices)) { first, _ in first }
        let asksForTimes = written.contains { $0?.usesTime ?? false }
        clock = asksForTimes ? TimeClock(times.names.compactMap { times.times[$0] }) : nil
        var conditions = rules.map { $0.when?.decided ?? .always }
        index = RuleIndex(&conditions)
        self.conditions = conditions
        var stepSinks: [Int] = []
        steps = zip(self.rules, conditions).map { rule, condition in
            let first = stepSinks.count
            stepSinks += rule.sinks
            var isConditional = true
            if case .always = condition { isConditional = false }
            return Step(
                firstSink: UInt32(first), endOfSinks: UInt32(stepSinks.count), isDrop: rule.isDrop,
                isContinued: rule.isContinued, isConditional: isConditional)
        }
        self.stepSinks = stepSinks
        overruns = Locked(Array(repeating: 0, count: rules.count))
    }

    /// What reads times of day in the system's zone, as the file names none: paths such as `times.night`.
    package var placesInSystemZone: [String] {
        let unnamed = times.filter { $0.value.zone.name.isEmpty }.keys.sorted().map { "times.\($0)" }
        let digests = rules.enumerated().compactMap { number, rule -> String? in
            guard case .at(let moments)? = rule.policy.digest?.timing, moments.zone.name.isEmpty else { return nil }
            return "rules[\(number)].digest"
        }
        return unnamed + digests
    }

    /// How often a regular expression of each rule gave up at its limit, which counts as no match.
    package var patternOverruns: [Int] { overruns.withLock { $0 } }

    /// Appends the effects of an event to `effects`, in the order of the rules and of their sinks.
    ///
    /// An event that no rule matches gets one receipt `unmatched`. `wall` is the wall clock, for conditions on times.
    package func decide(_ event: Event, at wall: Instant, into effects: inout [Effect]) {
        decide(event, at: wall, into: &effects, counts: true)
    }

    /// Decides as `decide` does; `counts` says whether a regular expression that gives up is counted.
    @inline(__always)
    func decide(_ event: Event, at wall: Instant, into effects: inout [Effect], counts: Bool) {
        var scratch = scratch(at: wall)
        var taken = TakenSinks(from: effects.count)
        var candidates = Candidates(
            actor: index.actorBucket(event, &scratch), kind: index.kindBucket(event), rest: index.restBucket)
        var hasMatched = false
        while let number = candidates.next(in: index.postings) {
            let step = steps[number]
            if step.isConditional, !holds(number, for: event, &scratch, counts) { continue }
            hasMatched = true
            if step.isDrop {
                if taken.isEmpty(effects) {
                    effects.append(Effect(rule: number, sink: Effect.nobody, action: .suppress(.dropped)))
                }
                return
            }
            for place in Int(step.firstSink)..<Int(step.endOfSinks) where taken.take(stepSinks[place], effects) {
                effects.append(Effect(rule: number, sink: stepSinks[place], action: .deliver))
            }
            if !step.isContinued { return }
        }
        if !hasMatched {
            effects.append(Effect(rule: Effect.nobody, sink: Effect.nobody, action: .suppress(.unmatched)))
        }
    }

    /// Returns what conditions need to know of a moment.
    @inline(__always) func scratch(at wall: Instant) -> Scratch {
        Scratch(timeBits: clock?.bits(at: wall) ?? 0)
    }

    private func holds(_ number: Int, for event: Event, _ scratch: inout Scratch, _ counts: Bool) -> Bool {
        let holds = conditions[number].holds(for: event, &scratch)
        if scratch.isOverLimit {
            scratch.isOverLimit = false
            if counts { overruns.withLock { $0[number] += 1 } }
        }
        return holds
    }
}

/// The rules that can match one event, in the order of the file.
private struct Candidates {
    private var actor: RuleIndex.Bucket
    private var kind: RuleIndex.Bucket
    private var rest: RuleIndex.Bucket

    init(actor: RuleIndex.Bucket, kind: RuleIndex.Bucket, rest: RuleIndex.Bucket) {
        self.actor = actor
        self.kind = kind
        self.rest = rest
    }

    /// Takes the smallest number at the head of the three buckets.
    @inline(__always) mutating func next(in postings: [UInt32]) -> Int? {
        let byActor = actor.start < actor.end ? postings[actor.start] : .max
        let byKind = kind.start < kind.end ? postings[kind.start] : .max
        let byRest = rest.start < rest.end ? postings[rest.start] : .max
        let next = min(byActor, byKind, byRest)
        if next == .max { return nil }
        if next == byActor {
            actor.start += 1
        } else if next == byKind {
            kind.start += 1
        } else {
            rest.start += 1
        }
        return Int(next)
    }
}

/// The sinks that the effects of one event have taken.
private struct TakenSinks {
    private let start: Int
    private var first64: UInt64 = 0

    /// Begins with the effects from `start` on.
    init(from start: Int) {
        self.start = start
    }

    /// Whether no sink was taken.
    func isEmpty(_ effects: [Effect]) -> Bool { effects.count == start }

    /// Takes a sink; false if an earlier rule did.
    @inline(__always) mutating func take(_ sink: Int, _ effects: [Effect]) -> Bool {
        guard sink < 64 else { return !effects[start...].contains { $0.sink == sink } }
        let bit = UInt64(1) << UInt64(sink)
        defer { first64 |= bit }
        return first64 & bit == 0
    }
}
