internal import GLibRuntime
package import RelayCore

/// The journal on disk: accepted means committed to a SQLite file.
///
/// It has a thread of its own, so that a slow fsync keeps no one else waiting.
package actor SQLiteJournal: Journal {
    private nonisolated let executor = ThreadExecutor(name: "journal")
    /// Nil before it is opened, and after it was closed.
    private var core: JournalCore?
    private var bells: [String: Doorbell] = [:]

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init() {}

    /// Opens the journal of a state folder with a plan in force, in which every sink has a share of this size.
    ///
    /// A damaged file is set aside and read as far as it can be, which is not a failure.
    /// - Returns: the journal, and what was found that somebody should hear of.
    /// - Throws: `DatabaseFault` if the file cannot be used: no permission, no room, or a later program wrote it.
    package static func open(
        _ options: JournalOptions, plan: EffectPlan, limits: OutboxShare.Limits = OutboxShare.Limits(),
        bounds: LedgerBounds = LedgerBounds(), history: HistoryPolicy = HistoryPolicy(), at now: Moment
    ) async throws(DatabaseFault) -> (journal: SQLiteJournal, notes: [JournalNote]) {
        let journal = SQLiteJournal()
        let notes = try await journal.start { () throws(DatabaseFault) in
            try JournalCore.open(options, plan: plan, limits: limits, bounds: bounds, policy: history, at: now)
        }
        return (journal, notes)
    }

    private func start(
        _ open: @Sendable () throws(DatabaseFault) -> (core: JournalCore, notes: [JournalNote])
    ) throws(DatabaseFault) -> [JournalNote] {
        let opened = try open()
        core = opened.core
        return opened.notes
    }

    /// Changes what the history keeps, and for how long.
    package func keepHistory(_ policy: HistoryPolicy) {
        core?.policy = policy
    }

    /// Removes some of what the history keeps no longer, while nothing else may be written.
    ///
    /// - Returns: when, by the wall clock, to do so again.
    package func pruneHistory(at now: Moment) throws(JournalFailure) -> Instant {
        try opened().pruneHistory(at: now)
    }

    // MARK: Accepting

    package func adopt(_ plan: EffectPlan, at now: Moment) throws(JournalFailure) {
        defer { ring() }
        try opened().adopt(plan, at: now)
    }

    package func accept(
        _ intakes: [Intake], progress: [StreamProgress], at now: Moment
    ) throws(JournalFailure) -> [[Acceptance]] {
        defer { ring() }
        return try opened().accept(intakes, progress: progress, at: now)
    }

    package func savedProgress(of stream: String) -> StreamProgress? {
        // What cannot be read is as if it were not there: catch-up begins with the next event.
        (try? core?.streams.progress(of: stream)) ?? nil
    }

    package func advance(to now: Moment) throws(JournalFailure) -> [Deadline] {
        defer { ring() }
        return try opened().advance(to: now)
    }

    package func addSilence(
        _ matcher: Silence.Matcher, until: Instant, at now: Moment
    ) throws(SilenceFault) -> Silence {
        guard let core else { throw .over }
        return try core.addSilence(matcher, until: until, at: now)
    }

    package func removeSilence(_ id: UInt64, at now: Moment) -> Bool {
        core?.removeSilence(id, at: now) ?? false
    }

    package func silences(at now: Moment) -> [Silence] { core?.ledger.silences(at: now) ?? [] }

    // MARK: Delivering

    package func claim(_ request: ClaimRequest, at now: Instant) -> ClaimBatch {
        defer { ring() }
        return core?.claim(request, at: now) ?? ClaimBatch(claims: [], nextDue: nil)
    }

    @discardableResult
    package func settle(_ settlements: [SettledClaim], at now: Instant) -> Int {
        defer { ring() }
        return core?.settle(settlements, at: now) ?? settlements.count
    }

    package func giveUp(sink: String, acceptedBy limit: Instant, at now: Instant) -> GivenUp {
        defer { ring() }
        return core?.giveUp(sink: sink, acceptedBy: limit, at: now) ?? GivenUp(count: 0, oldest: nil)
    }

    package func outbox(_ selection: OutboxSelection, limit: Int) -> [OutboxEntry] {
        (try? core?.entries(selection, limit: limit)) ?? []
    }

    package func retry(_ selection: OutboxSelection, to sink: String?, at now: Instant) throws(JournalFailure) -> Int {
        defer { ring() }
        return try opened().retry(selection, to: sink, at: now)
    }

    package func drop(_ selection: OutboxSelection, at now: Instant) throws(JournalFailure) -> Int {
        defer { ring() }
        return try opened().drop(selection, at: now)
    }

    package func bell(for sink: String) -> Doorbell {
        if let bell = bells[sink] { return bell }
        let bell = Doorbell()
        bells[sink] = bell
        return bell
    }

    // MARK: Counting

    package func counters() -> [String: SinkCounters] { core?.counters ?? [:] }

    package func receipts() -> [ReceiptCount] { core?.ledger.receipts ?? [] }

    package func overflows() -> OverflowCounters { core?.ledger.overflows ?? OverflowCounters() }

    package func outboxFull() -> [OutboxFullCount] { core?.outbox.index.fullCounts ?? [] }

    // MARK: Ending

    /// Does nothing: what is open stays so on disk.
    package func finish(at now: Moment) {}

    package func close() {
        core?.close()
        core = nil
    }

    private func opened() throws(JournalFailure) -> JournalCore {
        guard let core else { throw .unavailable("the journal is closed") }
        return core
    }

    /// Rings the bells of the sinks for which something is due that was not before.
    private func ring() {
        for sink in core?.outbox.index.takeRung() ?? [] { bell(for: sink).ring() }
    }
}
