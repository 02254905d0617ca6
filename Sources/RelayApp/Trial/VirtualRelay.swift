internal import GLibRuntime
internal import RelayCore
internal import RelayJournal
internal import RelayRules

/// Takes what happens in a relay whose time is virtual.
@MainLoop
protocol VirtualRelayObserver: AnyObject {
    /// An event was decided; `outcomes` has each of its effects, in the order of the rules.
    func decided(_ event: Event, _ outcomes: [EffectOutcome], at instant: Instant)
    /// A sink got a delivery.
    func delivered(_ delivery: Delivery, at instant: Instant)
    /// A digest ended in receipts, as it found no free slot when it closed.
    func limited(_ count: ReceiptCount, at instant: Instant)
}

/// An effect with what became of it.
struct EffectOutcome: Sendable {
    /// The effect.
    var effect: Effect
    /// What became of it.
    var acceptance: Acceptance
}

/// The rules and the journal of a relay in virtual time: the same engine as in `run`, whose sinks deliver at once.
///
/// Virtual time never goes back. On its way to an event it stops at every deadline of the journal, so that each digest
/// and each briefing goes out at its own time.
@MainLoop
final class VirtualRelay {
    /// How long nothing may happen, though something is open, before it counts as never closing: a quiet time begins at
    /// least once a week, and no window is longer than 31 days.
    static let longestWait = Duration.seconds(366 * 86_400)

    /// The most deliveries that are claimed at a time.
    private static let claimed = 256

    /// Virtual time; nil before the first event.
    var now: Instant? { hasBegun ? current : nil }
    private var current = Instant(milliseconds: 0)
    private var hasBegun = false
    private let rules: RuleSet
    private let sinkNames: [String]
    /// Whether a rule's effects are the journal's in any sink, and whether a sink is fed right after the decision else.
    private let isStateful: [Bool]
    private let isFast: [Bool]
    private let journal: MemoryJournal
    private let observer: any VirtualRelayObserver
    private var effects: [Effect] = []
    private var outcomes: [EffectOutcome] = []
    /// When something is due next; nil if it has to be asked for.
    private var nextDeadline: Instant?
    /// The effects that the limits of closing digests have ended, as far as they were told.
    private var limited: [LimitedKey: Int] = [:]
    private let watchesClosings: Bool

    private struct LimitedKey: Hashable {
        var rule: String
        var sink: String
    }

    /// Creates a relay with an empty journal, whose time begins with the first event.
    init(_ configuration: RelayConfiguration, observer: any VirtualRelayObserver) {
        rules = configuration.rules
        let plan = rules.plan
        isStateful = plan.policies.map(\.isStateful)
        isFast = configuration.sinks.map { sink in
            if case .stdout = sink.kind { return !sink.isDurable }
            return false
        }
        self.observer = observer
        sinkNames = plan.sinkNames
        // What is stored is delivered at once, so a share holds no more than what closes at one instant.
        journal = MemoryJournal(plan: plan, limits: OutboxShare.Limits(count: .max, bytes: .max))
        watchesClosings = plan.policies.contains { $0.digest != nil && $0.limit?.excess == .drop }
    }

    /// Decides an event at `instant`, or now if that is later, after everything that is due by then.
    ///
    /// - Throws: `JournalFailure` if the journal takes no commit.
    func take(_ event: Event, at instant: Instant) throws(JournalFailure) {
        try advance(to: instant)
        effects.removeAll(keepingCapacity: true)
        rules.decide(event, at: current, into: &effects)
        let kept = effects.filter { $0.action == .deliver && !isImmediate($0) }
        var acceptances: [Acceptance] = []
        if !kept.isEmpty {
            let intake = Intake(event: event.compacted(), effects: kept)
            acceptances = try journal.accept([intake], at: Moment(current)).first ?? []
            nextDeadline = nil
        }
        tell(event, acceptances)
        for effect in effects where effect.action == .deliver && isImmediate(effect) { deliver(effect, of: event) }
        for effect in kept { deliver(sinkNames[effect.sink]) }
    }

    /// Lets time pass until `instant`, and what is due on the way happen.
    func advance(to instant: Instant) throws(JournalFailure) {
        if !hasBegun {
            hasBegun = true
            current = instant
        }
        guard instant > current else { return }
        while let deadline = try deadline(), deadline <= instant { try close(at: deadline) }
        current = instant
    }

    /// Lets time pass until nothing is open.
    ///
    /// - Returns: false if something stays open for ever.
    func runOn() throws(JournalFailure) -> Bool {
        var happened = current
        while let deadline = try deadline() {
            guard deadline - happened <= Self.longestWait else { return false }
            if try close(at: deadline) { happened = deadline }
        }
        return true
    }

    /// The effects that are still in digests and briefings, by sink.
    var open: [(sink: String, count: Int)] {
        let counters = journal.counters()
        return sinkNames.compactMap { sink in
            counters[sink].flatMap { $0.pending > 0 ? (sink, $0.pending) : nil }
        }
    }

    /// The receipts that the journal gave.
    var receipts: [ReceiptCount] { journal.receipts() }

    /// Tells what became of the effects, of which the journal had those that asked for a delivery.
    private func tell(_ event: Event, _ acceptances: [Acceptance]) {
        outcomes.removeAll(keepingCapacity: true)
        var accepted = acceptances.makeIterator()
        for effect in effects {
            switch effect.action {
            case .suppress(let receipt):
                outcomes.append(EffectOutcome(effect: effect, acceptance: .suppressed(receipt)))
            case .deliver:
                guard let acceptance = isImmediate(effect) ? .stored : accepted.next() else { continue }
                outcomes.append(EffectOutcome(effect: effect, acceptance: acceptance))
                if watchesClosings, acceptance == .suppressed(.limited) {
                    limited[
                        LimitedKey(rule: rules.rules[effect.rule].name, sink: sinkNames[effect.sink]), default: 0] += 1
                }
            }
        }
        observer.decided(event, outcomes, at: current)
    }

    /// Whether an effect goes to its sink without the journal, as lines of standard output do.
    private func isImmediate(_ effect: Effect) -> Bool { isFast[effect.sink] && !isStateful[effect.rule] }

    /// Delivers an effect that is not the journal's; nobody would look at its key.
    private func deliver(_ effect: Effect, of event: Event) {
        let notice = rules.notice(rule: effect.rule, for: event, suppressed: 0)
        observer.delivered(
            Delivery(key: "", sink: sinkNames[effect.sink], notice: notice, content: .event(event)), at: current)
    }

    /// Returns when the next digest or briefing closes, which is after now.
    private func deadline() throws(JournalFailure) -> Instant? {
        if let nextDeadline { return nextDeadline < .distantFuture ? nextDeadline : nil }
        note(try journal.advance(to: Moment(current)))
        return try deadline()
    }

    /// Closes what is due at `deadline`; returns whether anything came of it.
    @discardableResult
    private func close(at deadline: Instant) throws(JournalFailure) -> Bool {
        current = deadline
        note(try journal.advance(to: Moment(current)))
        let hasEnded = tellLimited()
        return sinkNames.reduce(hasEnded) { deliver($1) || $0 }
    }

    /// Keeps the earliest of the deadlines; both clocks are one here.
    private func note(_ deadlines: [Deadline]) {
        nextDeadline = deadlines.reduce(.distantFuture) { earliest, deadline in
            switch deadline {
            case .relay(let instant), .wall(let instant): instant > current ? min(earliest, instant) : earliest
            }
        }
    }

    /// Tells the receipts that digests got when they closed; returns whether there are any.
    private func tellLimited() -> Bool {
        guard watchesClosings else { return false }
        var isAny = false
        for var receipt in journal.receipts() where receipt.receipt == .limited {
            let key = LimitedKey(rule: receipt.rule, sink: receipt.sink)
            let count = receipt.count
            receipt.count -= limited[key, default: 0]
            limited[key] = count
            guard receipt.count > 0 else { continue }
            isAny = true
            observer.limited(receipt, at: current)
        }
        return isAny
    }

    /// Delivers what the journal has for a sink; returns whether it had anything.
    @discardableResult
    private func deliver(_ sink: String) -> Bool {
        var isAny = false
        while true {
            // Settled at once, so the lease never ends.
            let claims = journal.claim(
                ClaimRequest(sink: sink, upTo: Self.claimed, lease: .seconds(1)), at: current
            ).claims
            if claims.isEmpty { return isAny }
            isAny = true
            for claim in claims { observer.delivered(claim.delivery, at: current) }
            journal.settle(claims.map { SettledClaim($0, .delivered) }, at: current)
        }
    }
}
