package import GLibRuntime
package import RelayCore

/// The journal of a relay without a disk: the whole seam, and nothing survives the process.
///
/// It lives on the main loop, as the stream and the workers do, so using it costs no change of thread.
@MainLoop
package final class MemoryJournal: Journal {
    private let limits: OutboxShare.Limits
    private var shares: [String: OutboxShare] = [:]
    private var bells: [String: Doorbell] = [:]
    private var plan: EffectPlan
    private var nextSerial: UInt64 = 0
    private var nextToken: UInt64 = 0

    /// Creates an empty journal with a plan in force, in which every sink has a share of this size.
    package nonisolated init(plan: EffectPlan, limits: OutboxShare.Limits = OutboxShare.Limits()) {
        self.plan = plan
        self.limits = limits
    }

    package func adopt(_ plan: EffectPlan, at now: Moment) {
        self.plan = plan
    }

    package func accept(_ intakes: [Intake], at now: Moment) throws(JournalFailure) -> [[Acceptance]] {
        var sinks: Set<String> = []
        let acceptances = intakes.map { intake in
            intake.effects.map { effect in
                let sink = plan.sinkNames[effect.sink]
                sinks.insert(sink)
                nextSerial += 1
                let delivery = Delivery(
                    key: DeliveryKey.event(intake.event, rule: plan.policies[effect.rule].rule, sink: sink), sink: sink,
                    notice: plan.renderer.notice(rule: effect.rule, for: intake.event, suppressed: 0),
                    content: .event(intake.event))
                return shares[sink, default: OutboxShare(limits: limits)].store(
                    delivery, serial: nextSerial, at: now.relay)
            }
        }
        for sink in sinks { bell(for: sink).ring() }
        return acceptances
    }

    package func advance(to now: Moment) -> [Deadline] { [] }

    package func addSilence(
        _ matcher: Silence.Matcher, until: Instant, at now: Moment
    ) throws(SilenceFault) -> Silence {
        throw .empty
    }

    package func removeSilence(_ id: UInt64, at now: Moment) -> Bool { false }

    package func silences(at now: Moment) -> [Silence] { [] }

    package func receipts() -> [ReceiptCount] { [] }

    package func overflows() -> OverflowCounters { OverflowCounters() }

    package func claim(
        sink: String, upTo count: Int, lease: Duration, inOrder: Bool, at now: Instant
    ) -> ClaimBatch {
        guard var share = shares.removeValue(forKey: sink) else { return ClaimBatch(claims: [], nextDue: nil) }
        defer { shares[sink] = share }
        share.takeBackExpiredClaims(at: now)
        var claims: [Claim] = []
        while claims.count < count {
            nextToken += 1
            guard let claim = share.claim(token: nextToken, until: now + lease, inOrder: inOrder, at: now) else {
                break
            }
            claims.append(claim)
        }
        return ClaimBatch(claims: claims, nextDue: claims.isEmpty ? share.nextDue(inOrder: inOrder) : nil)
    }

    @discardableResult
    package func settle(_ settlements: [SettledClaim], at now: Instant) -> Int {
        var stale = 0
        for settled in settlements {
            let sink = settled.claim.delivery.sink
            guard shares[sink]?.settle(settled.claim.token, settled.settlement) == true else {
                stale += 1
                continue
            }
            if settled.settlement == .released { bell(for: sink).ring() }
        }
        return stale
    }

    package func counters() -> [String: SinkCounters] {
        shares.mapValues(\.counters)
    }

    package func bell(for sink: String) -> Doorbell {
        if let bell = bells[sink] { return bell }
        let bell = Doorbell()
        bells[sink] = bell
        return bell
    }

    package func finish(at now: Moment) {}

    package func close() {
        shares.removeAll()
    }
}
