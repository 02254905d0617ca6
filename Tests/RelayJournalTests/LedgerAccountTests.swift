import RelayCore
import RelayJournal
import RelayTestKit
import Testing

/// Every effect ends in one place, whatever rules, windows, reloads, silences, quiet hours and bounds there are.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct LedgerAccountTests {
    @Test(arguments: 0..<20)
    func everyEffectIsInOneNoticeOrOneReceipt(block: UInt64) async throws {
        for seed in block * 50..<(block + 1) * 50 {
            var account = Account(seed: seed)
            for _ in 0..<50 { try account.step() }
            try account.finish()
            // Tests beside this one wait for real sockets.
            await Task.yield()
        }
    }
}

/// A ledger under random operations, with what was offered to it.
private struct Account {
    private struct Name: Hashable {
        var rule: String
        var sink: String
    }

    private let seed: UInt64
    private var random: SeededGenerator
    private var ledger: Ledger
    private var plan: EffectPlan
    private var store = RecordingStore()
    private var disk = LedgerDisk()
    private let bounds: LedgerBounds
    private var now: Moment
    private var events: [Event] = []
    private var silences: [UInt64] = []
    /// How often an effect was offered that did not end in a receipt at once, by rule, sink and id.
    private var open: [Name: [String: Int]] = [:]
    private var offered: [String: Int] = [:]
    private var receipts: [Name: Int] = [:]
    private var steps = 0

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        plan = RandomPlan.plan(using: &random)
        let isSmall = Bool.random(using: &random)
        bounds = isSmall ? LedgerBounds(groups: 2, limitKeys: 2, repeatKeys: 2) : LedgerBounds()
        ledger = Ledger(plan: plan, bounds: bounds, recordsChanges: true)
        if Bool.random(using: &random) { store.room = 5 }
        // The night of a change of the clocks, in Berlin.
        now = Moment(Instant(milliseconds: 1_774_740_000_000))
    }

    mutating func step() throws {
        steps += 1
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<10: try offer()
        case 10..<14: now = later(by: .milliseconds(Int.random(in: 0...30_000, using: &random)))
        case 14..<16:
            // Exactly when something is due.
            let deadline = ledger.deadlines(at: now).randomElement(using: &random)
            if let deadline { now = later(by: max(.zero, deadline.distance(from: now))) }
            try ledger.advance(to: now, into: &store)
        case 16: now = later(by: .seconds(Int.random(in: 0...40_000, using: &random)))
        case 17: now.wall = now.wall + .seconds(Int.random(in: -40_000...40_000, using: &random))
        case 18: if Bool.random(using: &random) { try mute() } else { restart() }
        default:
            if Bool.random(using: &random) { store.settleAll() } else { try reload() }
        }
        check()
    }

    private func later(by duration: Duration) -> Moment {
        Moment(relay: now.relay + duration, wall: now.wall + duration)
    }

    private mutating func offer() throws {
        try ledger.advance(to: now, into: &store)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let isAgain = Int.random(in: 0..<8, using: &random) == 0
            let event = isAgain ? events.randomElement(using: &random) : nil
            let offered = event ?? RandomPlan.event("e\(events.count)", at: now.wall, using: &random)
            events.append(offered)
            let effects = plan.sinkNames.indices.map { sink in
                Effect(rule: Int.random(in: plan.policies.indices, using: &random), sink: sink, action: .deliver)
            }
            let placements = try ledger.accept(Intake(event: offered, effects: effects), at: now, into: &store)
            for (effect, placement) in zip(effects, placements) { note(effect, placement.acceptance, of: offered) }
        }
    }

    private mutating func note(_ effect: Effect, _ acceptance: Acceptance, of event: Event) {
        let name = Name(rule: plan.policies[effect.rule].rule, sink: plan.sinkNames[effect.sink])
        offered[name.sink, default: 0] += 1
        open[name, default: [:]][event.text(of: event.record.id)?.string ?? "", default: 0] += 1
        if case .suppressed = acceptance { receipts[name, default: 0] += 1 }
    }

    private mutating func mute() throws {
        if let id = silences.popLast(), Bool.random(using: &random) {
            _ = ledger.removeSilence(id, at: now)
        } else {
            let matcher = Silence.Matcher(actor: "Ann", rule: Bool.random(using: &random) ? "r" : nil)
            let until = now.wall + .seconds(Int.random(in: 1...300, using: &random))
            silences.append(try ledger.addSilence(matcher, until: until, at: now).id)
        }
    }

    private mutating func reload() throws {
        plan = RandomPlan.plan(using: &random)
        try ledger.adopt(plan, at: now, into: &store)
    }

    /// Goes on from what was written, when the clocks have been set.
    private mutating func restart() {
        disk.write(ledger.takeChanges())
        now.relay = now.relay + .seconds(Int.random(in: -40_000...40_000, using: &random))
        now.wall = now.wall + .seconds(Int.random(in: -40_000...40_000, using: &random))
        ledger = Ledger(plan: plan, bounds: bounds, image: disk.image, at: now, recordsChanges: true)
        for deadline in ledger.deadlines(at: now) {
            // A time of day comes at least once a day, or an hour later when the clocks change.
            let (distance, longest) = (deadline.distance(from: now), longest(of: deadline))
            #expect(distance <= longest, "seed \(seed), step \(steps): \(deadline)")
        }
        disk.write(ledger.takeChanges())
        let isAsWritten = disk == LedgerDisk(ledger.image)
        #expect(isAsWritten, "seed \(seed), step \(steps)")
    }

    private func longest(of deadline: Deadline) -> Duration {
        switch deadline {
        case .relay: RandomPlan.longest
        case .wall: .seconds(25 * 3600)
        }
    }

    private func check() {
        var counters = ledger.counters
        for (sink, others) in store.counters { counters[sink, default: SinkCounters()].add(others) }
        for (sink, counters) in counters {
            let sum = counters.delivered + counters.suppressed + counters.pending + counters.dead
            #expect(
                counters.effects == sum && sum == offered[sink], "seed \(seed), step \(steps), sink \(sink)")
        }
    }

    mutating func finish() throws {
        try ledger.finish(at: now, into: &store)
        check()
        #expect(ledger.counters.values.allSatisfy { $0.pending == 0 && $0.effects == $0.suppressed }, "seed \(seed)")
        #expect(ledger.deadlines(at: now).isEmpty, "seed \(seed)")
        for record in store.records { takeOut(record.delivery) }
        // What is in no notice is in a receipt, and nothing is in both.
        var counted: [Name: Int] = [:]
        for receipt in ledger.receipts {
            counted[Name(rule: receipt.rule, sink: receipt.sink), default: 0] += receipt.count
        }
        for (name, left) in open {
            #expect(left.values.allSatisfy { $0 >= 0 }, "seed \(seed): doubled")
            #expect(left.values.reduce(0, +) == counted[name, default: 0], "seed \(seed): \(name)")
            #expect(receipts[name, default: 0] <= counted[name, default: 0], "seed \(seed): \(name)")
        }
    }

    private mutating func takeOut(_ delivery: Delivery) {
        let pieces = delivery.notice.title.string.split(separator: " ")
        #expect(pieces.count == delivery.effects, "seed \(seed): a wrong count")
        for piece in pieces {
            let parts = piece.split(separator: "/").map(String.init)
            open[Name(rule: parts[0], sink: delivery.sink), default: [:]][parts[1], default: 0] -= 1
        }
    }
}
