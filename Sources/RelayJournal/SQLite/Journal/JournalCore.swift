internal import RelayCore

/// The journal on disk, without a thread: the ledger and the index of the outbox in memory are the truth, and the file
/// is written through.
///
/// If a commit fails, nothing of it may be left in memory: everything is read from the file again. That is rare, simple
/// and right. Only what became of deliveries is kept beside, as it happened outside of the journal.
final class JournalCore {
    /// How safe a commit is.
    enum Durability: String {
        /// It survives a loss of power.
        case full = "FULL"
        /// It survives the end of the process; without an fsync.
        case normal = "NORMAL"
    }

    /// What stands in the way of commits.
    enum Trouble {
        case nothing
        /// The disk is full; the ballast is what settlements live on.
        case full
        /// Something else.
        case failing
    }

    let options: JournalOptions
    let limits: OutboxShare.Limits
    let bounds: LedgerBounds
    let database: Database
    let markFile: HighWaterMarkFile

    /// The plan that was committed last.
    var plan: EffectPlan
    var policy: HistoryPolicy
    var ledger: Ledger
    var outbox: StoredOutbox
    var streams: StreamStore
    var history: HistoryStore
    var ballast: Ballast
    var trouble = Trouble.nothing
    var writes = OutboxWrites()
    /// Silences that the disk did not take.
    var unwrittenSilences: SilenceRows?
    /// The sums of the outbox as they are on disk.
    private var written = OutboxSums()
    /// Whether the ledger goes on by the policies of a former process: the plan is adopted before anything is accepted.
    private(set) var isPlanFormer = false
    /// Whether what is in memory is not what is on disk, since that could not be read.
    var isStale = false
    private var durability = Durability.full
    /// When something was committed last.
    private(set) var lastMoment: Moment
    /// The last numbers that the file had when it was read last, whatever its mark says.
    private(set) var found = HighWaterMark()
    /// How many rows of the ledger could not be read when it was read last.
    private(set) var damagedRows = 0

    init(
        _ database: Database, _ options: JournalOptions, plan: EffectPlan, limits: OutboxShare.Limits,
        bounds: LedgerBounds, policy: HistoryPolicy, at now: Moment
    ) throws(DatabaseFault) {
        self.database = database
        self.options = options
        self.plan = plan
        self.limits = limits
        self.bounds = bounds
        self.policy = policy
        lastMoment = now
        markFile = HighWaterMarkFile(of: options.folder)
        ballast = Ballast(of: options.folder, size: options.ballast)
        let shelf = StoredOutbox.Shelf(store: OutboxStore(database: database))
        ledger = Ledger(plan: plan, bounds: bounds, recordsChanges: true)
        outbox = StoredOutbox(index: Outbox(limits: limits, recordsAll: true), shelf: shelf)
        streams = try StreamStore(database)
        history = try HistoryStore(database, floor: 0)
        try load(at: now)
    }

    // MARK: Reading all

    /// Makes memory what the file says, with what became of deliveries meanwhile.
    func load(at now: Moment) throws(DatabaseFault) {
        isStale = true
        let store = LedgerStore(database: database)
        var image = try store.read()
        let images = try outbox.shelf.store.images()
        let last = try database.number("SELECT max(serial) FROM delivery").map { UInt64(bitPattern: $0) } ?? 0
        found.serial = max(image.ledger.totals.lastSerial, last)
        // A number that was given once, and lost with a part of the file, is not given again.
        image.ledger.totals.lastSerial = max(found.serial, markFile.mark?.serial ?? 0)
        if let unwrittenSilences { image.ledger.silences = unwrittenSilences }
        damagedRows = image.damaged
        written = OutboxSums(images)
        ledger = Ledger(plan: plan, bounds: bounds, image: image.ledger, at: now, recordsChanges: true)
        isPlanFormer = PlanRow(ledger.plan) != PlanRow(plan)
        outbox.shelf.new.removeAll()
        outbox.index = Outbox(
            limits: limits, images: writes.applied(to: images), former: outbox.index, at: now.relay)
        streams = try StreamStore(database)
        history = try HistoryStore(database, floor: max(history.lastEvent, markFile.mark?.event ?? 0))
        (found.event, found.seen) = (history.storedEvent, streams.lastSeen)
        isStale = false
    }

    // MARK: Committing

    /// What a commit writes beside what changed in memory.
    struct Additions {
        var progress: [StreamProgress] = []
        var events: [(event: Event, effects: [RecordedEffect])] = []
        /// How much of the history may go, beside what makes room for these events.
        var pruned = 0
        /// How safe the commit must be, if that shows only on the way.
        var durability: Durability?

        /// Whether it adds nothing.
        var isEmpty: Bool { progress.isEmpty && events.isEmpty && pruned == 0 }
    }

    /// Writes all that changed in memory, in one transaction; nothing if nothing did.
    ///
    /// - Throws: `DatabaseFault` when nothing was written. What changed of the outbox stays in `writes`, what changed of
    ///   the ledger is lost: `load` must follow if anything did.
    func commit(_ durability: Durability, _ additions: Additions = Additions(), at now: Moment) throws(DatabaseFault) {
        writes.add(outbox.index.takeChanges(), former: written)
        var changes = ledger.takeChanges()
        changes.silences = changes.silences ?? unwrittenSilences
        unwrittenSilences = changes.silences
        let isNothing = writes.isEmpty && changes.isEmpty && additions.isEmpty
        guard !isNothing else { return }
        lastMoment = now
        try set(additions.durability ?? durability)
        try database.transaction { () throws(DatabaseFault) in
            try write(changes, additions, at: now)
        }
        if changes.plan != nil { isPlanFormer = false }
        written.add(writes)
        writes = OutboxWrites()
        unwrittenSilences = nil
        outbox.shelf.new.removeAll(keepingCapacity: true)
        markFile.write(
            HighWaterMark(serial: ledger.lastSerial, event: history.lastEvent, seen: streams.lastSeen))
    }

    private func set(_ durability: Durability) throws(DatabaseFault) {
        guard durability != self.durability else { return }
        try database.execute("PRAGMA synchronous = \(durability.rawValue)")
        self.durability = durability
    }

    private func write(_ changes: LedgerChanges, _ additions: Additions, at now: Moment) throws(DatabaseFault) {
        let ledgerStore = LedgerStore(database: database)
        try ledgerStore.write(changes)
        for progress in additions.progress { try streams.write(progress, at: now.wall) }
        if !policy.isOff {
            for (event, effects) in additions.events { try history.record(event, effects, at: now.wall) }
            try history.record(changes.closings, at: now.relay)
        }
        try writeOutbox(to: outbox.shelf.store)
        for (sink, counters) in writes.counters { try ledgerStore.write(counters, of: sink, part: "outbox") }
        // Only what stores events makes room for them, so that settlements stay short.
        if !additions.isEmpty { try prune(2 * additions.events.count + additions.pruned, at: now) }
    }

    private func writeOutbox(to store: OutboxStore) throws(DatabaseFault) {
        for stored in writes.rows.values.sorted(by: { $0.row.serial < $1.row.serial }) {
            let row = stored.row
            let keepsEnded = !policy.isOff && row.serial > history.prunedSerial
            if let delivery = outbox.shelf.new[row.serial] {
                guard !row.isEnded || keepsEnded else { continue }
                try store.insert(row, of: stored.sink, delivery, lastEvent: history.lastEvent)
            } else {
                try store.update(row, keepsEnded: keepsEnded)
            }
        }
        for full in writes.full { try store.write(full) }
        for (sink, until) in writes.pauses { try store.pause(sink, until: until) }
    }

    private func prune(_ count: Int, at now: Moment) throws(DatabaseFault) {
        let pages = try database.number("PRAGMA page_count") ?? 0
        let free = try database.number("PRAGMA freelist_count") ?? 0
        let waiting = outbox.index.byteCount
        let used = Int(clamping: pages - free) * Self.pageSize - waiting
        try history.prune(policy, usedBytes: used, atLeast: count, at: now.wall)
        if free > Self.freePages { try database.execute("PRAGMA incremental_vacuum(\(HistoryStore.slice))") }
    }

    /// SQLite's default, which this program does not change.
    private static let pageSize = 4096
    /// The free pages above which the file is made smaller: 16 MiB, of which what comes next makes use.
    private static let freePages: Int64 = 4096
}

extension Outbox {
    /// The bytes that pending deliveries are charged.
    fileprivate var byteCount: Int { shares.values.reduce(0) { $0 + $1.pendingBytes } }
}
