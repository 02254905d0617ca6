package import RelayCore

/// The index of a whole outbox: a share for each sink, and what the journals do alike with them.
///
/// What is delivered lies on a `DeliveryShelf`. Whatever changes the outbox leaves its changes to be taken, for the shelf
/// and for what is stored, and the sinks whose bells are to ring.
package struct Outbox: Sendable {
    let limits: OutboxShare.Limits
    private let recordsAll: Bool
    /// The shares by the names of their sinks.
    var shares: [String: OutboxShare] = [:]
    /// What found no room, by sink.
    private var full: [String: OutboxFullTable] = [:]
    /// Until when the services of sinks want nothing at all; one that has passed counts no more.
    private var pauses: [String: Instant] = [:]
    private var lastToken: UInt64 = 0
    /// The sinks of which something may have changed.
    private var touched: Set<String> = []
    /// The sinks for which something is due that was not before.
    private var rung: Set<String> = []

    /// Creates an empty outbox, in which every sink has a share of this size.
    ///
    /// With `recordsAll`, `takeChanges` tells of everything; else only of what need not be kept.
    package init(limits: OutboxShare.Limits, recordsAll: Bool = false) {
        self.limits = limits
        self.recordsAll = recordsAll
    }

    /// Creates an outbox from what a journal stored, at its start or after a commit that failed.
    ///
    /// Claims are released, unless `former`, the outbox of the same process before, has them.
    package init(limits: OutboxShare.Limits, images: [OutboxImage], former: Outbox? = nil, at now: Instant) {
        self.init(limits: limits, recordsAll: true)
        lastToken = former?.lastToken ?? 0
        rung = former?.rung ?? []
        for image in images {
            var share = OutboxShare(limits: limits, recordsAll: true)
            share.restore(image, former: former?.shares[image.sink], at: now)
            shares[image.sink] = share
            for count in image.full { full[image.sink, default: OutboxFullTable()].insert(count) }
            // No service can ask for more.
            pauses[image.sink] = image.pausedUntil.map { min($0, now + OutboxShare.longestWait) }
            touched.insert(image.sink)
        }
    }

    /// Whether a sink has the delivery with this key, pending or dead.
    package func holds(_ key: String, sink: String) -> Bool { shares[sink]?.holds(key) ?? false }

    /// Stores a delivery under a serial higher than all before; false if there is no room, which makes its effects dead.
    ///
    /// The next notice of the same rule that finds room tells how many found none.
    ///
    /// - Throws: `JournalFailure.conflictingKey` if another delivery has the key.
    package mutating func store(
        _ delivery: Delivery, serial: UInt64, at now: Instant, on shelf: inout some DeliveryShelf
    ) throws(JournalFailure) -> Bool {
        let (sink, rule) = (delivery.sink, delivery.notice.rule)
        if holds(delivery.key, sink: sink) { throw .conflictingKey(delivery.key) }
        var told = delivery
        let untold = full[sink]?.untold(of: rule) ?? 0
        if untold > 0 { told.notice.tellUnqueued(untold) }
        touch(sink)
        guard share(sink, { $0.hasRoom(bytes: told.byteCount) }) else {
            share(sink) { $0.refuse(effects: delivery.effects) }
            full[sink, default: OutboxFullTable()].add(delivery.effects, rule: rule, at: now)
            return false
        }
        try shelf.put(told, serial: serial)
        share(sink) { $0.store(OutboxRow(told, serial: serial, at: now)) }
        if untold > 0 { full[sink]?.tell(rule) }
        ring(sink)
        return true
    }

    /// Claims what is due, after folding the backlogs that are in the way.
    package mutating func claim(
        _ request: ClaimRequest, at now: Instant, ledger: inout Ledger, on shelf: inout some DeliveryShelf
    ) throws(JournalFailure) -> ClaimBatch {
        let sink = request.sink
        var batch = ClaimBatch(claims: [], nextDue: nil)
        guard shares[sink] != nil else { return batch }
        if let pausedUntil = pauses[sink], pausedUntil > now {
            batch.nextDue = pausedUntil
            return batch
        }
        touch(sink)
        share(sink) { $0.takeBackExpiredClaims(at: now) }
        while batch.claims.count < request.count,
            let next = share(sink, { $0.next(inOrder: request.inOrder, at: now) })
        {
            if let backlog = request.backlog,
                let fold = try fold(next.row, of: sink, backlog, at: now, ledger: &ledger, on: &shelf)
            {
                batch.folds.append(fold)
                continue
            }
            if let claim = try claim(next, request, at: now, on: shelf) { batch.claims.append(claim) }
        }
        if batch.claims.isEmpty { batch.nextDue = share(sink) { $0.nextDue() } }
        return batch
    }

    private mutating func claim(
        _ next: OutboxShare.Next, _ request: ClaimRequest, at now: Instant, on shelf: some DeliveryShelf
    ) throws(JournalFailure) -> Claim? {
        let delivery = try shelf.delivery(next.row.serial)
        lastToken += 1
        let token = lastToken
        share(request.sink) { $0.claim(next, token: token, until: now + request.lease) }
        guard let delivery else {
            _ = share(request.sink) { $0.settle(token, .dead(because: "its text is lost"), at: now) }
            return nil
        }
        return Claim(
            delivery: delivery, serial: next.row.serial, attempt: next.row.attempts + 1,
            acceptedAt: next.row.acceptedAt, token: token)
    }

    /// Settles claims; returns how many were stale.
    package mutating func settle(_ settlements: [SettledClaim], at now: Instant) -> Int {
        var stale = 0
        for settled in settlements {
            let sink = settled.claim.delivery.sink
            guard shares[sink]?.settle(settled.claim.token, settled.settlement, at: now) == true else {
                stale += 1
                continue
            }
            touch(sink)
            if let until = settled.pausedUntil { pauses[sink] = max(until, pauses[sink] ?? until) }
            if settled.settlement == .released { ring(sink) }
        }
        return stale
    }

    /// What became of the effects of the deliveries so far, by sink.
    package var counters: [String: SinkCounters] { shares.mapValues(\.counters) }

    /// What found no room, by sink, rule and hour.
    package var fullCounts: [OutboxFullCount] {
        full.sorted { $0.key < $1.key }.flatMap { $1.all(of: $0) }
    }

    /// What changed in an outbox since it was last asked.
    package struct Changes: Sendable {
        /// Rows as they are now, oldest change first: the last one of a serial counts.
        package var rows: [(sink: String, row: OutboxRow)] = []
        /// The counters of the sinks of which something may have changed.
        package var counters: [String: SinkCounters] = [:]
        /// Counts of what found no room; one of nothing is gone.
        package var full: [OutboxFullCount] = []
        /// The pauses of the sinks of which something may have changed.
        package var pauses: [String: Instant] = [:]
    }

    /// Takes what changed.
    package mutating func takeChanges() -> Changes {
        var changes = Changes()
        for sink in touched {
            let rows = shares[sink]?.takeChanges() ?? []
            changes.rows.append(contentsOf: rows.map { (sink, $0) })
            guard recordsAll else { continue }
            changes.counters[sink] = shares[sink]?.counters
            changes.pauses[sink] = pauses[sink]
            changes.full.append(contentsOf: full[sink]?.takeChanges(of: sink) ?? [])
        }
        touched.removeAll(keepingCapacity: true)
        return changes
    }

    /// Takes the sinks whose bells are to ring.
    package mutating func takeRung() -> Set<String> {
        defer { rung.removeAll(keepingCapacity: true) }
        return rung
    }

    // MARK: For the parts

    /// Does something with the share of a sink.
    @discardableResult
    mutating func share<Result>(_ sink: String, _ body: (inout OutboxShare) -> Result) -> Result {
        body(&shares[sink, default: OutboxShare(limits: limits, recordsAll: recordsAll)])
    }

    mutating func touch(_ sink: String) {
        if !touched.contains(sink) { touched.insert(sink) }
    }

    mutating func ring(_ sink: String) {
        if !rung.contains(sink) { rung.insert(sink) }
    }
}
