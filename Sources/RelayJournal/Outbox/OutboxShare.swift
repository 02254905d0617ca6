internal import RelayCore

/// The index of one sink's deliveries and dead letters, without what is delivered: it decides whose turn it is.
///
/// Every journal has one for each sink, restored at start from its rows. The deliveries themselves lie on a
/// `DeliveryShelf`, by serial.
package struct OutboxShare: Sendable {
    /// How much one sink may have waiting.
    package struct Limits: Sendable {
        /// The largest number of deliveries.
        package var count: Int
        /// The largest sum of `Delivery.byteCount`.
        package var bytes: Int
        /// The most dead letters, which may take as many bytes as those that wait; the oldest are forgotten.
        package var dead: Int

        /// Creates limits; the defaults are 100 000 deliveries, 256 MB and 10 000 dead letters.
        package init(count: Int = 100_000, bytes: Int = 256_000_000, dead: Int = 10_000) {
            self.count = count
            self.bytes = bytes
            self.dead = dead
        }
    }

    let limits: Limits
    /// Whether `changes` has every row that changed, or only those whose text need not be kept.
    private let recordsAll: Bool
    /// The pending deliveries and the dead letters by serial.
    var rows: [UInt64: OutboxRow] = [:]
    private var serials: [String: UInt64] = [:]
    /// The serials of claimed deliveries, by the token of the claim.
    var claims: [UInt64: UInt64] = [:]
    /// What is due, first place first; an entry whose row stands elsewhere by now is passed over.
    var ready = Heap<Turn>()
    /// What waits for its retry, earliest first; likewise.
    var waiting = Heap<Waiting>()
    var queue = OutboxOrder()
    /// What may be folded, by rule.
    private var backlogs: [String: Backlog] = [:]
    private var deadLetters = DeadLetters()
    private var pendingCount = 0
    private(set) var pendingBytes = 0

    /// What became of the effects of the deliveries so far.
    private(set) var counters = SinkCounters()
    /// The rows that changed since they were last taken, as they were then.
    private var changes: [OutboxRow] = []

    /// Creates an empty share; with `recordsAll`, every row that changes is to be taken.
    package init(limits: Limits = Limits(), recordsAll: Bool = false) {
        self.limits = limits
        self.recordsAll = recordsAll
    }

    /// Whether the delivery with this key is pending or a dead letter.
    func holds(_ key: String) -> Bool { serials[key] != nil }

    /// Whether there is room for one more delivery.
    func hasRoom(bytes: Int) -> Bool {
        pendingCount < limits.count && bytes <= limits.bytes && pendingBytes <= limits.bytes - bytes
    }

    /// How many deliveries are pending.
    var count: Int { pendingCount }

    /// Takes the rows that changed.
    mutating func takeChanges() -> [OutboxRow] {
        defer { changes.removeAll(keepingCapacity: true) }
        return changes
    }

    /// Stores a delivery for which there is room; its serial is higher than all before.
    mutating func store(_ row: OutboxRow) {
        counters.effects += row.effects
        insert(row)
        record(row)
    }

    /// Counts effects that are dead, as there is no room for them.
    mutating func refuse(effects: Int) {
        counters.effects += effects
        counters.dead += effects
    }

    // MARK: Moving rows

    /// Adds a pending row that the counters have among their effects.
    mutating func insert(_ row: OutboxRow) {
        rows[row.serial] = row
        serials[row.key] = row.serial
        enter(row)
    }

    /// Makes a row, which is in `rows` as it is now, one of those pending.
    private mutating func enter(_ row: OutboxRow) {
        pendingCount += 1
        pendingBytes += row.byteCount
        counters.pending += row.effects
        if row.isFoldable { backlogs[row.rule, default: Backlog()].append(row.serial) }
        queueUp(row)
    }

    /// Puts a pending row where its turn comes.
    mutating func queueUp(_ row: OutboxRow) {
        switch row.state {
        case .due: ready.insert(Turn(place: row.place, serial: row.serial))
        case .waiting(let until): waiting.insert(Waiting(until: until, place: row.place, serial: row.serial))
        case .claimed, .dead, .ended: break
        }
    }

    /// Changes a pending row that stays pending.
    mutating func update(_ serial: UInt64, _ change: (inout OutboxRow) -> Void) {
        guard var row = rows[serial] else { return }
        let wasFoldable = row.isFoldable
        change(&row)
        rows[serial] = row
        if wasFoldable, !row.isFoldable { leaveBacklog(row.rule) }
        record(row)
    }

    /// Takes a pending row out of the outbox.
    mutating func end(_ serial: UInt64, _ ending: OutboxRow.Ending, at now: Instant) {
        guard var row = leave(serial) else { return }
        rows[serial] = nil
        serials[row.key] = nil
        if ending == .delivered { counters.delivered += row.effects } else { counters.effects -= row.effects }
        row.state = .ended(ending, at: now)
        record(row)
    }

    /// Makes a pending row a dead letter.
    mutating func bury(_ serial: UInt64, because reason: String, isMoved: Bool = false, at now: Instant) {
        guard var row = leave(serial) else { return }
        counters.dead += row.effects
        row.state = .dead(at: now)
        row.lastError = reason
        row.isAside = false
        row.isFoldable = false
        row.isMoved = isMoved
        rows[serial] = row
        record(row)
        keepDead(row)
        forgetOldest(at: now)
    }

    private mutating func keepDead(_ row: OutboxRow) {
        guard case .dead(let diedAt) = row.state else { return }
        deadLetters.add(row.serial, at: diedAt, bytes: row.byteCount)
    }

    /// Forgets dead letters until there are no more than may be.
    mutating func forgetOldest(at now: Instant) {
        while let oldest = deadLetters.oldestBeyond(limits, isDead: { rows[$0]?.state == .dead(at: $1) }) {
            forget(oldest, at: now)
        }
    }

    /// Adds a dead letter as it was stored.
    mutating func insertDead(_ row: OutboxRow) {
        rows[row.serial] = row
        serials[row.key] = row.serial
        keepDead(row)
    }

    /// Takes a dead letter out of the outbox; it stays dead.
    mutating func forget(_ serial: UInt64, at now: Instant) {
        guard var row = rows[serial], row.isDead else { return }
        rows[serial] = nil
        serials[row.key] = nil
        deadLetters.remove(bytes: row.byteCount)
        row.state = .ended(.forgotten, at: now)
        record(row)
    }

    /// Makes a dead letter pending again, as if it were accepted now.
    mutating func revive(_ serial: UInt64, at now: Instant) {
        guard var row = rows[serial], row.isDead else { return }
        deadLetters.remove(bytes: row.byteCount)
        counters.dead -= row.effects
        row.state = .due
        row.acceptedAt = now
        row.attempts = 0
        row.unsettledClaims = 0
        if row.isMoved { row.lastError = nil }
        row.isMoved = false
        rows[serial] = row
        enter(row)
        record(row)
    }

    /// Notes that another sink got a dead letter, which stays.
    mutating func markMoved(_ serial: UInt64, because reason: String) {
        guard var row = rows[serial], row.isDead else { return }
        row.isMoved = true
        row.lastError = reason
        rows[serial] = row
        record(row)
    }

    /// Counts a pending row out, and returns it; it is still in `rows`.
    private mutating func leave(_ serial: UInt64) -> OutboxRow? {
        guard let row = rows[serial], row.isPending else { return nil }
        pendingCount -= 1
        pendingBytes -= row.byteCount
        counters.pending -= row.effects
        queue.forget(serial)
        if row.isFoldable { leaveBacklog(row.rule) }
        return row
    }

    private mutating func record(_ row: OutboxRow) {
        if recordsAll || row.isEnded { changes.append(row) }
    }

    // MARK: Backlogs

    private mutating func leaveBacklog(_ rule: String) {
        backlogs[rule]?.count -= 1
        if backlogs[rule]?.count == 0 { backlogs[rule] = nil }
    }

    /// Returns what of a rule is old enough to be folded, at most `most`; nothing unless it is more than the policy lets
    /// wait.
    mutating func foldable(_ rule: String, _ policy: BacklogPolicy, most: Int, at now: Instant) -> [UInt64] {
        guard var backlog = backlogs[rule], backlog.count > policy.count else { return [] }
        backlogs[rule] = nil
        defer { backlogs[rule] = backlog }
        backlog.compact { rows[$0]?.isFoldable == true }
        let serials = backlog.serials
        guard policy.count < serials.count else { return [] }
        let (known, latest) = (rows, now + (.zero - policy.age))
        func isOld(_ serial: UInt64) -> Bool { known[serial].map { $0.acceptedAt <= latest } ?? false }
        guard isOld(serials[serials.startIndex + policy.count]) else { return [] }
        return Array(serials.prefix(most).prefix { isOld($0) })
    }

    /// Takes over the counters of what left the outbox before this share was made.
    mutating func resume(_ stored: SinkCounters) {
        counters.delivered = stored.delivered
        counters.suppressed = stored.suppressed
        counters.dead = stored.dead
        counters.effects = stored.delivered + stored.suppressed + stored.dead + counters.pending
    }
}
