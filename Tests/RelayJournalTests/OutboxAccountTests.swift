import RelayCore
import RelayJournal
import RelayTestKit
import Testing

/// Every effect ends in one place, whatever workers, restarts and people do to the outbox.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct OutboxAccountTests {
    @Test(arguments: 0..<20)
    func everyEffectIsDeliveredDeadOrInAReceipt(block: UInt64) async throws {
        for seed in block * 50..<(block + 1) * 50 {
            var account = OutboxAccount(seed: seed)
            for _ in 0..<60 { try account.step() }
            try account.finish()
            // Tests beside this one wait for real sockets.
            await Task.yield()
        }
    }
}

/// An outbox under random operations, with what was offered to it.
private struct OutboxAccount {
    private struct Name: Hashable {
        var rule: String
        var sink: String
    }

    private struct Failures {
        var count = 0
        var first: Instant
        var last: Instant
    }

    private let seed: UInt64
    private var random: SeededGenerator
    private var ledger: Ledger
    private var plan: EffectPlan
    private var outbox: TestOutbox
    private var now = Moment(Instant(milliseconds: 1_774_740_000_000))
    private var claims: [Claim] = []
    /// How often an event is an effect that is nowhere yet, by rule, sink and id.
    private var open: [Name: [String: Int]] = [:]
    private var offered: [String: Int] = [:]
    private var failures: [UInt64: Failures] = [:]
    private var events = 0
    private var steps = 0
    /// Sinks that are served in order.
    private let ordered: Set<String>
    private let backlog: BacklogPolicy?

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededGenerator(seed: seed)
        plan = RandomPlan.plan(using: &random)
        ledger = Ledger(plan: plan)
        let isSmall = Bool.random(using: &random)
        outbox = TestOutbox(limits: isSmall ? OutboxShare.Limits(count: 8, dead: 3) : OutboxShare.Limits())
        ordered = Set(["x", "y", "z"].filter { _ in Bool.random(using: &random) })
        let count = Int.random(in: 1...4, using: &random)
        backlog = Bool.random(using: &random) ? BacklogPolicy(count: count, age: .seconds(count * 5)) : nil
        self.random = random
    }

    mutating func step() throws {
        steps += 1
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<7: try offer()
        case 7..<12: try claim()
        case 12..<17: settle()
        case 17, 18:
            now = later(by: .seconds(Int.random(in: 0...30, using: &random)))
            try ledger.advance(to: now, into: &outbox)
        case 19: try retry()
        case 20 where steps % 4 == 0: _ = outbox.drop(selection(), at: now.relay)
        case 21: restart()
        case 22 where steps % 8 == 0:
            let limit = now.relay + .seconds(-Int.random(in: 100...400, using: &random))
            _ = outbox.giveUp(sink: plan.sinkNames[0], acceptedBy: limit, at: now.relay)
        case 23 where steps % 8 == 0:
            plan = RandomPlan.plan(using: &random)
            try ledger.adopt(plan, at: now, into: &outbox)
        default: break
        }
        commit()
    }

    private func later(by duration: Duration) -> Moment {
        Moment(relay: now.relay + duration, wall: now.wall + duration)
    }

    private mutating func offer() throws {
        try ledger.advance(to: now, into: &outbox)
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            events += 1
            let event = RandomPlan.event("e\(events)", at: now.wall, using: &random)
            let effects = plan.sinkNames.indices.map { sink in
                Effect(rule: Int.random(in: plan.policies.indices, using: &random), sink: sink, action: .deliver)
            }
            for effect in effects {
                let name = Name(rule: plan.policies[effect.rule].rule, sink: plan.sinkNames[effect.sink])
                offered[name.sink, default: 0] += 1
                open[name, default: [:]]["e\(events)", default: 0] += 1
            }
            _ = try ledger.accept(Intake(event: event, effects: effects), at: now, into: &outbox)
        }
    }

    // MARK: Workers

    private mutating func claim() throws {
        guard let sink = ["x", "y", "z"].randomElement(using: &random) else { return }
        let inOrder = ordered.contains(sink)
        let request = ClaimRequest(
            sink: sink, upTo: Int.random(in: 1...3, using: &random), lease: .seconds(60), inOrder: inOrder,
            backlog: backlog)
        let batch = try outbox.claim(request, at: now.relay, ledger: &ledger)
        claims += batch.claims
        if batch.claims.isEmpty, let due = batch.nextDue {
            #expect(due > now.relay, "seed \(seed), step \(steps): a worker would never rest")
        }
        commit()
        if inOrder { checkOrder(of: batch.claims, sink) }
    }

    /// Nothing may wait before what is claimed, but for one that failed long enough and those that stepped aside.
    private func checkOrder(of claims: [Claim], _ sink: String) {
        #expect(claims.count <= 1, "seed \(seed), step \(steps)")
        guard let claim = claims.first, let place = outbox.rows[claim.serial]?.row.place else { return }
        let claimed = outbox.rows[claim.serial]?.row
        let before = outbox.rows.values.filter {
            $0.sink == sink && $0.row.isPending && !$0.row.isAside && $0.row.place < place
        }.map(\.row)
        if before.isEmpty || claimed?.isAside == true { return }
        let failed = before.first.flatMap { failures[$0.serial] }
        let isStuck = failed.map { $0.count >= 5 && $0.last - $0.first >= .seconds(60) } ?? false
        #expect(before.count == 1 && isStuck, "seed \(seed), step \(steps): out of order")
    }

    private mutating func settle() {
        guard let index = claims.indices.randomElement(using: &random) else { return }
        let claim = claims.remove(at: index)
        let settlement: Settlement
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2: settlement = .delivered
        case 3: settlement = .dead(because: "no")
        case 4: settlement = .released
        default:
            let until = now.relay + .seconds(Int.random(in: 0...20, using: &random))
            settlement = .retry(at: until, because: "busy", trouble: Bool.random(using: &random) ? .failed : .away)
        }
        guard outbox.settle([claim], settlement, at: now.relay) == 0 else { return }
        if case .retry(_, _, .failed) = settlement {
            failures[claim.serial, default: Failures(first: now.relay, last: now.relay)].count += 1
            failures[claim.serial]?.last = now.relay
        }
    }

    // MARK: People

    private mutating func selection() -> OutboxSelection {
        let serials = Set(outbox.rows.keys.sorted().filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
        return [
            OutboxSelection(), OutboxSelection(serials: serials), OutboxSelection(sink: "x"),
            OutboxSelection(isDead: true), OutboxSelection(acceptedBy: now.relay + .seconds(-30)),
        ].randomElement(using: &random) ?? OutboxSelection()
    }

    private mutating func retry() throws {
        let target = Bool.random(using: &random) ? ["x", "y", "z"].randomElement(using: &random) : nil
        _ = try outbox.retry(selection(), to: target, at: now.relay, ledger: &ledger)
        for (row, delivery) in commit() where row.isDead && row.isMoved {
            let sink = row.lastError?.split(separator: " ").last.map(String.init) ?? ""
            offered[sink, default: 0] += delivery.effects
            count(delivery, to: sink, by: 1)
        }
    }

    private mutating func restart() {
        let isNew = Bool.random(using: &random)
        outbox.restore(inNewProcess: isNew, at: now.relay)
        // Its claims are nobody's.
        if isNew { (failures, claims) = ([:], []) }
    }

    // MARK: Accounts

    @discardableResult
    private mutating func commit() -> [(row: OutboxRow, delivery: Delivery)] {
        for delivery in outbox.refused { count(delivery, to: delivery.sink, by: -1) }
        let changed = outbox.commit()
        for (row, delivery) in changed {
            switch row.state {
            case .ended(.delivered, _), .ended(.forgotten, _): count(delivery, to: delivery.sink, by: -1)
            default: break
            }
        }
        check()
        return changed
    }

    private func check() {
        var counters = ledger.counters
        for (sink, others) in outbox.index.counters { counters[sink, default: SinkCounters()].add(others) }
        for (sink, counters) in counters {
            let sum = counters.delivered + counters.suppressed + counters.pending + counters.dead
            #expect(counters.effects == sum, "seed \(seed), step \(steps), sink \(sink)")
        }
        for (sink, counters) in outbox.index.counters {
            #expect(outbox.counters[sink] == counters, "seed \(seed), step \(steps), sink \(sink): not told")
            let pending = outbox.rows.values.filter { $0.sink == sink && $0.row.isPending }
            #expect(pending.reduce(0) { $0 + $1.row.effects } == counters.pending, "seed \(seed), step \(steps)")
        }
        #expect(Set(outbox.rows.keys) == Set(outbox.shelf.deliveries.keys), "seed \(seed), step \(steps)")
    }

    /// Counts what a delivery tells of.
    private mutating func count(_ delivery: Delivery, to sink: String, by number: Int) {
        let pieces = delivery.notice.title.string.split(separator: " ")
        #expect(pieces.count == delivery.effects, "seed \(seed), step \(steps): a wrong count")
        for piece in pieces {
            let parts = piece.split(separator: "/").map(String.init)
            open[Name(rule: parts[0], sink: sink), default: [:]][parts[1], default: 0] += number
        }
    }

    mutating func finish() throws {
        try ledger.finish(at: now, into: &outbox)
        commit()
        // All leases end, all retries are due, and everything that is pending is delivered.
        now = later(by: .seconds(4000))
        for sink in ["x", "y", "z"] {
            let request = ClaimRequest(
                sink: sink, upTo: 3, lease: .seconds(60), inOrder: ordered.contains(sink), backlog: backlog)
            while true {
                let batch = try outbox.claim(request, at: now.relay, ledger: &ledger)
                if batch.claims.isEmpty { break }
                _ = outbox.settle(batch.claims, .delivered, at: now.relay)
                commit()
            }
        }
        commit()
        for entry in try outbox.entries() {
            #expect(entry.state.isDead, "seed \(seed): still \(entry.state)")
            count(entry.delivery, to: entry.delivery.sink, by: -1)
        }
        for (sink, counters) in outbox.index.counters { #expect(counters.pending == 0, "seed \(seed), \(sink)") }
        var receipts: [Name: Int] = [:]
        for receipt in ledger.receipts { receipts[Name(rule: receipt.rule, sink: receipt.sink), default: 0] += receipt.count }
        for (name, left) in open {
            #expect(left.values.allSatisfy { $0 >= 0 }, "seed \(seed): \(name) doubled")
            #expect(left.values.reduce(0, +) == receipts[name, default: 0], "seed \(seed): \(name)")
        }
        for (sink, count) in offered {
            let effects = (ledger.counters[sink]?.effects ?? 0) + (outbox.index.counters[sink]?.effects ?? 0)
            #expect(effects == count, "seed \(seed): \(sink)")
        }
    }
}
