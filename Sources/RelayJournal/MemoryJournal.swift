package import GLibRuntime
package import RelayCore

/// The journal of a relay without a disk: the whole seam, and nothing survives the process.
///
/// It lives on the main loop, as the stream and the workers do, so using it costs no change of thread.
@MainLoop
package final class MemoryJournal: Journal {
    private var ledger: Ledger
    private var outbox: MemoryOutbox
    private var bells: [String: Doorbell] = [:]

    /// Creates an empty journal with a plan in force, in which every sink has a share of this size.
    package nonisolated init(
        plan: EffectPlan, limits: OutboxShare.Limits = OutboxShare.Limits(), bounds: LedgerBounds = LedgerBounds()
    ) {
        ledger = Ledger(plan: plan, bounds: bounds)
        outbox = MemoryOutbox(limits: limits)
    }

    package func adopt(_ plan: EffectPlan, at now: Moment) throws(JournalFailure) {
        defer { ring() }
        try ledger.adopt(plan, at: now, into: &outbox)
    }

    package func accept(
        _ intakes: [Intake], progress: [StreamProgress] = [], at now: Moment
    ) throws(JournalFailure) -> [[Acceptance]] {
        defer { ring() }
        try ledger.advance(to: now, into: &outbox)
        var acceptances: [[Acceptance]] = []
        acceptances.reserveCapacity(intakes.count)
        for intake in intakes {
            acceptances.append(try ledger.accept(intake, at: now, into: &outbox).map(\.acceptance))
        }
        return acceptances
    }

    package func savedProgress(of stream: String) -> StreamProgress? { nil }

    package func advance(to now: Moment) throws(JournalFailure) -> [Deadline] {
        defer { ring() }
        try ledger.advance(to: now, into: &outbox)
        return ledger.deadlines(at: now)
    }

    package func addSilence(
        _ matcher: Silence.Matcher, until: Instant, at now: Moment
    ) throws(SilenceFault) -> Silence {
        try ledger.addSilence(matcher, until: until, at: now)
    }

    package func removeSilence(_ id: UInt64, at now: Moment) -> Bool { ledger.removeSilence(id, at: now) }

    package func silences(at now: Moment) -> [Silence] { ledger.silences(at: now) }

    package func receipts() -> [ReceiptCount] { ledger.receipts }

    package func overflows() -> OverflowCounters { ledger.overflows }

    package func claim(_ request: ClaimRequest, at now: Instant) -> ClaimBatch {
        defer { ring() }
        // What lies in memory can always be read.
        return (try? outbox.claim(request, at: now, ledger: &ledger)) ?? ClaimBatch(claims: [], nextDue: nil)
    }

    @discardableResult
    package func settle(_ settlements: [SettledClaim], at now: Instant) -> Int {
        defer { ring() }
        return outbox.settle(settlements, at: now)
    }

    package func giveUp(sink: String, acceptedBy limit: Instant, at now: Instant) -> GivenUp {
        defer { ring() }
        return outbox.giveUp(sink: sink, acceptedBy: limit, at: now)
    }

    package func outbox(_ selection: OutboxSelection, limit: Int) -> [OutboxEntry] {
        (try? outbox.entries(selection, limit: limit)) ?? []
    }

    package func retry(_ selection: OutboxSelection, to sink: String?, at now: Instant) throws(JournalFailure) -> Int {
        defer { ring() }
        return try outbox.retry(selection, to: sink, at: now, ledger: &ledger)
    }

    package func drop(_ selection: OutboxSelection, at now: Instant) -> Int {
        defer { ring() }
        return outbox.drop(selection, at: now)
    }

    package func outboxFull() -> [OutboxFullCount] { outbox.fullCounts }

    package func counters() -> [String: SinkCounters] {
        ledger.counters.merging(outbox.counters) { sum, other in
            var sum = sum
            sum.add(other)
            return sum
        }
    }

    package func bell(for sink: String) -> Doorbell {
        if let bell = bells[sink] { return bell }
        let bell = Doorbell()
        bells[sink] = bell
        return bell
    }

    package func finish(at now: Moment) throws(JournalFailure) {
        defer { ring() }
        try ledger.finish(at: now, into: &outbox)
    }

    package func close() {
        outbox.removeAll()
    }

    /// Rings the bells of the sinks for which something is due that was not before.
    private func ring() {
        for sink in outbox.tidy() { bell(for: sink).ring() }
    }
}
