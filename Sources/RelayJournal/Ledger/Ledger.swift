package import RelayCore

/// What a journal keeps beside deliveries: limits, repeats, open digests and briefings, silences, receipts.
///
/// A value without a clock and without I/O, which the memory and the SQLite journal share. Whatever it does happens
/// inside of `accept`, `advance`, `adopt`, `finish` and the changes of silences; the deliveries it makes go to the
/// journal's outbox. All state is kept by the names of rules and sinks, so that it outlives a reload. A journal with a
/// disk takes the changes after each of these calls and writes them beside the deliveries.
package struct Ledger: Sendable {
    var plan: EffectPlan
    let bounds: LedgerBounds
    /// The places of the rules by name.
    var numbers: [String: Int] = [:]

    var limits: LimitTable
    var repeats: RepeatTable
    var groups: GroupTable
    var briefings: BriefingTable
    var times = TimeStates()
    var book = SilenceBook()
    var receiptTable: ReceiptTable
    var accounts: AccountTable
    /// What the bounds turned away, but for repeat keys.
    var overflow = OverflowCounters()
    /// The counter behind all serials: of groups, briefings and deliveries.
    var lastSerial: UInt64 = 0
    /// What has to be written beside the rows of the tables; nil if nobody writes.
    var notes: LedgerNotes?

    /// Creates an empty ledger with a plan in force; one with `recordsChanges` can be asked for them.
    package init(plan: EffectPlan, bounds: LedgerBounds = LedgerBounds(), recordsChanges: Bool = false) {
        self.plan = plan
        self.bounds = bounds
        limits = LimitTable(bound: bounds.limitKeys, recordsChanges: recordsChanges)
        repeats = RepeatTable(bound: bounds.repeatKeys, recordsChanges: recordsChanges)
        groups = GroupTable(bound: bounds.groups, recordsChanges: recordsChanges)
        briefings = BriefingTable(recordsChanges: recordsChanges)
        receiptTable = ReceiptTable(recordsChanges: recordsChanges)
        accounts = AccountTable(recordsChanges: recordsChanges)
        if recordsChanges { notes = LedgerNotes() }
        enforce(plan)
    }

    /// The receipts so far.
    package var receipts: [ReceiptCount] { receiptTable.all }

    /// What the bounds turned away.
    package var overflows: OverflowCounters {
        var counters = overflow
        counters.repeatKeys = repeats.forgotten
        return counters
    }

    /// The effects of each sink that ended in a receipt, or are pending in an open digest or briefing.
    ///
    /// Those that became deliveries are the outbox's to count.
    package var counters: [String: SinkCounters] { accounts.counters }

    /// Puts all effects of an intake through silences, repeats, digests, quiet times and limits, in that order.
    ///
    /// `advance` must have been called for the same moment.
    package mutating func accept(
        _ intake: Intake, at now: Moment, into store: inout some DeliveryStore
    ) throws(JournalFailure) -> [Placement] {
        var placements: [Placement] = []
        placements.reserveCapacity(intake.effects.count)
        for effect in intake.effects {
            placements.append(try accept(effect, of: intake.event, at: now, into: &store))
        }
        return placements
    }

    // MARK: Silences

    /// Adds a silence, from now on.
    package mutating func addSilence(
        _ matcher: Silence.Matcher, until: Instant, at now: Moment
    ) throws(SilenceFault) -> Silence {
        notes?.hasNewSilences = true
        return try book.add(matcher, until: until, at: now.wall)
    }

    /// Ends a silence; returns whether there was one.
    package mutating func removeSilence(_ id: UInt64, at now: Moment) -> Bool {
        notes?.hasNewSilences = true
        return book.remove(id, at: now.wall)
    }

    /// Returns the silences that have not ended, oldest first.
    package func silences(at now: Moment) -> [Silence] {
        book.silences.filter { $0.until > now.wall }
    }

    // MARK: What every part counts

    mutating func nextSerial() -> UInt64 {
        lastSerial += 1
        return lastSerial
    }

    /// Puts a plan in force.
    mutating func enforce(_ plan: EffectPlan) {
        self.plan = plan
        numbers = plan.places
        times.removeAll()
        notes?.hasNewPlan = true
    }

    /// Counts an effect that ends in a receipt.
    mutating func suppress(_ receipt: Receipt, _ scope: Scope) -> Placement {
        accounts.modify(scope.sink) { counters in
            counters.effects += 1
            counters.suppressed += 1
        }
        receiptTable.add(receipt, scope)
        return Placement(.suppressed(receipt))
    }

    /// Counts effects that were pending and end in receipts.
    mutating func suppressPending(_ receipt: Receipt, _ scope: Scope, count: Int) {
        accounts.modify(scope.sink) { counters in
            counters.pending -= count
            counters.suppressed += count
        }
        receiptTable.add(receipt, scope, count: count)
    }

    /// Counts an effect that is pending in a digest or a briefing from now on.
    mutating func countPending(_ sink: String) {
        accounts.modify(sink) { counters in
            counters.effects += 1
            counters.pending += 1
        }
    }

    /// Counts pending effects that the outbox counts from now on.
    mutating func handOver(_ sink: String, count: Int) {
        accounts.modify(sink) { counters in
            counters.effects -= count
            counters.pending -= count
        }
    }

    /// Counts an effect that joined a shared group.
    mutating func countSharedGroup() {
        overflow.groups += 1
    }

    /// Counts an effect that went by a shared limit key.
    mutating func countSharedKey() {
        overflow.limitKeys += 1
    }

    /// Whether another event can be listed and not only counted; the first one of a gathering always is.
    var hasRoomToList: Bool { groups.byteCount + briefings.byteCount < bounds.gatheredBytes }
}
