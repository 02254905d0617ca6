import RelayCore
import RelayJournal

/// A journal on disk that is closed and opened again whenever no claim is out.
actor ReopenedJournal: Journal {
    private let folder: JournalFolder
    private var journal: SQLiteJournal
    private var plan: EffectPlan
    private let limits: OutboxShare.Limits
    private let bounds: LedgerBounds
    private var claimed: Set<UInt64> = []
    /// A clock that was set back over a restart changes deadlines, which is another story.
    private var latest = Story.midnight

    init(_ plan: EffectPlan, _ limits: OutboxShare.Limits, _ bounds: LedgerBounds) async throws {
        folder = try JournalFolder()
        (self.plan, self.limits, self.bounds) = (plan, limits, bounds)
        journal = try await folder.open(plan, limits: limits, bounds: bounds).journal
    }

    /// Opens the journal again, if nobody would notice.
    private func reopen(at now: Moment) async {
        guard claimed.isEmpty, now.relay >= latest else { return }
        latest = now.relay
        await journal.close()
        guard let again = try? await folder.open(plan, limits: limits, bounds: bounds, at: now).journal else { return }
        journal = again
    }

    func adopt(_ plan: EffectPlan, at now: Moment) async throws(JournalFailure) {
        await reopen(at: now)
        try await journal.adopt(plan, at: now)
        self.plan = plan
        await reopen(at: now)
    }

    func accept(
        _ intakes: [Intake], progress: [StreamProgress], at now: Moment
    ) async throws(JournalFailure) -> [[Acceptance]] {
        await reopen(at: now)
        let acceptances = try await journal.accept(intakes, progress: progress, at: now)
        await reopen(at: now)
        return acceptances
    }

    func savedProgress(of stream: String) async -> StreamProgress? { await journal.savedProgress(of: stream) }

    func advance(to now: Moment) async throws(JournalFailure) -> [Deadline] {
        await reopen(at: now)
        return try await journal.advance(to: now)
    }

    func addSilence(
        _ matcher: Silence.Matcher, until: Instant, at now: Moment
    ) async throws(SilenceFault) -> Silence {
        try await journal.addSilence(matcher, until: until, at: now)
    }

    func removeSilence(_ id: UInt64, at now: Moment) async -> Bool { await journal.removeSilence(id, at: now) }

    func silences(at now: Moment) async -> [Silence] {
        await reopen(at: now)
        return await journal.silences(at: now)
    }

    func claim(_ request: ClaimRequest, at now: Instant) async -> ClaimBatch {
        let batch = await journal.claim(request, at: now)
        claimed.formUnion(batch.claims.map(\.token))
        return batch
    }

    @discardableResult
    func settle(_ settlements: [SettledClaim], at now: Instant) async -> Int {
        claimed.subtract(settlements.map(\.claim.token))
        return await journal.settle(settlements, at: now)
    }

    func giveUp(sink: String, acceptedBy limit: Instant, at now: Instant) async -> GivenUp {
        await journal.giveUp(sink: sink, acceptedBy: limit, at: now)
    }

    func outbox(_ selection: OutboxSelection, limit: Int) async -> [OutboxEntry] {
        await journal.outbox(selection, limit: limit)
    }

    func retry(
        _ selection: OutboxSelection, to sink: String?, at now: Instant
    ) async throws(JournalFailure) -> Int {
        try await journal.retry(selection, to: sink, at: now)
    }

    func drop(_ selection: OutboxSelection, at now: Instant) async throws(JournalFailure) -> Int {
        try await journal.drop(selection, at: now)
    }

    func outboxFull() async -> [OutboxFullCount] { await journal.outboxFull() }
    func counters() async -> [String: SinkCounters] { await journal.counters() }
    func receipts() async -> [ReceiptCount] { await journal.receipts() }
    func overflows() async -> OverflowCounters { await journal.overflows() }
    func bell(for sink: String) async -> Doorbell { await journal.bell(for: sink) }
    func finish(at now: Moment) async throws(JournalFailure) { await journal.finish(at: now) }
    func close() async { await journal.close() }
}
