import RelayCore
import RelayJournal
import RelayTestKit
import Testing

/// A ledger that is thrown away and made again from what was written of it goes on as one that never was.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct LedgerRestartTests {
    @Test(arguments: 0..<24)
    func aRestartIsNotNoticed(block: UInt64) async throws {
        for seed in block * 50..<(block + 1) * 50 {
            var twins = Twins(seed: seed)
            for _ in 0..<60 where twins.fault == nil { try twins.step() }
            if twins.fault == nil { try twins.finish() }
            if let fault = twins.fault {
                Issue.record("seed \(seed), step \(twins.steps): \(fault)")
                return
            }
            // Tests beside this one wait for real sockets.
            await Task.yield()
        }
    }
}

/// Two ledgers under the same random operations, one of which is made again from its disk now and then.
private struct Twins {
    /// What goes back to what it was when a transaction fails.
    private struct State {
        var ledger: Ledger
        var store = RecordingStore()
        var plan: EffectPlan
    }

    private var random: SeededGenerator
    private let bounds: LedgerBounds
    /// The twin that lives on, and as it was when the changes of the other one were last written.
    private var steady: State
    private var written: State
    private var mortal: Ledger
    private var store: RecordingStore
    private var writtenStore: RecordingStore
    private var disk = LedgerDisk()
    private var now: Moment
    private var events: [Event] = []
    private var silences: [UInt64] = []
    private(set) var steps = 0
    /// What was seen first that must not be.
    private(set) var fault: Comment?
    /// How many deliveries were compared.
    private var compared = 0
    /// What became of groups and briefings by their serials, and of deliveries.
    private var fates: [UInt64: ClosingRow.Fate] = [:]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let plan = RandomPlan.plan(using: &random)
        var bounds = LedgerBounds()
        if Bool.random(using: &random) { bounds = LedgerBounds(groups: 2, limitKeys: 2, repeatKeys: 2) }
        if Int.random(in: 0..<4, using: &random) == 0 { bounds.gatheredBytes = 1000 }
        self.bounds = bounds
        store = RecordingStore()
        if Bool.random(using: &random) { store.room = 5 }
        steady = State(ledger: Ledger(plan: plan, bounds: bounds), store: store, plan: plan)
        (written, writtenStore) = (steady, store)
        mortal = Ledger(plan: plan, bounds: bounds, recordsChanges: true)
        // The night of a change of the clocks, in Berlin.
        now = Moment(Instant(milliseconds: 1_774_740_000_000))
        write()
    }

    mutating func step() throws {
        steps += 1
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<10: try offer()
        case 10..<14: now = later(by: .milliseconds(Int.random(in: 0...30_000, using: &random)))
        case 14..<16:
            // Exactly when something is due.
            let deadline = steady.ledger.deadlines(at: now).randomElement(using: &random)
            if let deadline { now = later(by: max(.zero, deadline.distance(from: now))) }
            try advance()
        case 16: now = later(by: .seconds(Int.random(in: 0...40_000, using: &random)))
        // What an earlier wall clock cuts is not what it was.
        case 17: now.wall = now.wall + .seconds(Int.random(in: 0...40_000, using: &random))
        case 18: mute()
        case 19: settle()
        case 20: try reload(RandomPlan.plan(using: &random))
        case 21: restart()
        case 22: fail()
        default: try restart(by: RandomPlan.plan(using: &random))
        }
        compare()
        if Bool.random(using: &random) { write() }
    }

    private func later(by duration: Duration) -> Moment {
        Moment(relay: now.relay + duration, wall: now.wall + duration)
    }

    // MARK: Operations

    private mutating func advance() throws {
        try steady.ledger.advance(to: now, into: &steady.store)
        try mortal.advance(to: now, into: &store)
    }

    private mutating func offer() throws {
        try advance()
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let isAgain = Int.random(in: 0..<8, using: &random) == 0
            let event = isAgain ? events.randomElement(using: &random) : nil
            let offered = event ?? RandomPlan.event("e\(events.count)", at: now.wall, using: &random)
            events.append(offered)
            let plan = steady.plan
            let effects = plan.sinkNames.indices.map { sink in
                Effect(rule: Int.random(in: plan.policies.indices, using: &random), sink: sink, action: .deliver)
            }
            let intake = Intake(event: offered, effects: effects)
            let placements = try steady.ledger.accept(intake, at: now, into: &steady.store)
            let others = try mortal.accept(intake, at: now, into: &store)
            check(placements == others, "other placements")
        }
    }

    private mutating func mute() {
        if let id = silences.popLast(), Bool.random(using: &random) {
            let wereThere = (steady.ledger.removeSilence(id, at: now), mortal.removeSilence(id, at: now))
            check(wereThere.0 == wereThere.1, "a silence of one only")
            return
        }
        let matcher = Silence.Matcher(actor: "Ann", rule: Bool.random(using: &random) ? "r" : nil)
        let until = now.wall + .seconds(Int.random(in: -1...300, using: &random))
        let silence = try? steady.ledger.addSilence(matcher, until: until, at: now)
        let other = try? mortal.addSilence(matcher, until: until, at: now)
        check(silence == other, "another silence")
        if let silence { silences.append(silence.id) }
    }

    private mutating func settle() {
        steady.store.settleAll()
        store.settleAll()
    }

    private mutating func reload(_ plan: EffectPlan) throws {
        steady.plan = plan
        try steady.ledger.adopt(plan, at: now, into: &steady.store)
        try mortal.adopt(plan, at: now, into: &store)
    }

    /// Writes what changed.
    private mutating func write() {
        let (changes, rest) = (mortal.takeChanges(), mortal.takeChanges())
        let areInOrder = disk.write(changes)
        check(areInOrder, "items out of order")
        check(disk == LedgerDisk(mortal.image), "the disk is not as the ledger")
        check(rest.isEmpty, "changes are taken twice")
        for closing in changes.closings {
            let before = fates.updateValue(closing.fate, forKey: closing.serial)
            check(before == nil, "closed twice")
        }
        (written, writtenStore) = (steady, store)
    }

    /// Makes the mortal twin again, by the plan in force.
    private mutating func restart() {
        write()
        restore(steady.plan)
        let changes = mortal.takeChanges()
        check(changes.isEmpty, "a restart changed something")
        check(LedgerDisk(mortal.image) == disk, "a restart is not as it was written")
    }

    /// Loses what was not written.
    private mutating func fail() {
        (steady, store) = (written, writtenStore)
        compared = store.records.count
        restore(steady.plan)
    }

    /// Makes the mortal twin again, by rules that were changed in between.
    private mutating func restart(by plan: EffectPlan) throws {
        write()
        restore(plan)
        try reload(plan)
    }

    private mutating func restore(_ plan: EffectPlan) {
        mortal = Ledger(plan: plan, bounds: bounds, image: disk.image, at: now, recordsChanges: true)
    }

    mutating func finish() throws {
        restart()
        try steady.ledger.finish(at: now, into: &steady.store)
        try mortal.finish(at: now, into: &store)
        write()
        compare()
        check(disk.groups.isEmpty && disk.briefings.isEmpty && disk.image.items.isEmpty, "something is left open")
        for case .briefing(let serial) in fates.values {
            check(fates[serial] != nil, "a group joined a briefing that never closed")
        }
    }

    // MARK: Comparison

    private mutating func check(_ holds: Bool, _ otherwise: Comment) {
        if !holds, fault == nil { fault = otherwise }
    }

    private mutating func compare() {
        let (left, right) = (steady.store.records, store.records)
        check(left.count == right.count, "more deliveries")
        for index in compared..<max(compared, min(left.count, right.count)) {
            check(text(of: left[index]) == text(of: right[index]), "another delivery")
        }
        compared = left.count
        let deadlines = (steady.ledger.deadlines(at: now), mortal.deadlines(at: now))
        check(deadlines.0 == deadlines.1, "other deadlines")
        check(steady.ledger.receipts == mortal.receipts, "other receipts")
        check(steady.ledger.counters == mortal.counters, "other counters")
        check(steady.ledger.overflows == mortal.overflows, "other overflows")
        check(steady.ledger.silences(at: now) == mortal.silences(at: now), "other silences")
    }

    /// All of a delivery, but for the name of a rule in its title: the wording of a rule that is gone is gone too.
    private func text(of record: RecordingStore.Record) -> String {
        let delivery = record.delivery
        let title = delivery.notice.title.string.split(separator: " ").map { $0.split(separator: "/").last ?? "" }
        return """
            \(record.serial) \(record.at.milliseconds) \(record.isStored) \(delivery.key) \(delivery.sink) \
            \(title) \(delivery.notice.rule) \(delivery.notice.suppressed) \(delivery.effects) \(summary(of: delivery))
            """
    }

    private func summary(of delivery: Delivery) -> String {
        switch delivery.content {
        case .event(let event): event.text(of: event.record.id)?.string ?? ""
        case .digest(let summary), .briefing(let summary):
            "\(summary.key.string) \(summary.first.milliseconds) \(summary.last.milliseconds)"
        }
    }
}
