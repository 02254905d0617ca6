package import RelayCore

extension Outbox {
    /// Gives up what is pending for a sink and was accepted at `limit` or before.
    package mutating func giveUp(sink: String, acceptedBy limit: Instant, at now: Instant) -> GivenUp {
        guard let share = shares[sink] else { return GivenUp(count: 0, oldest: nil) }
        var tooOld: [UInt64] = []
        var oldest: Instant?
        for row in share.rows.values where row.isPending {
            if row.acceptedAt <= limit, !row.isClaimed {
                tooOld.append(row.serial)
            } else {
                oldest = min(oldest ?? row.acceptedAt, row.acceptedAt)
            }
        }
        if tooOld.isEmpty { return GivenUp(count: 0, oldest: oldest) }
        touch(sink)
        tooOld.sort()
        self.share(sink) { share in
            for serial in tooOld { share.bury(serial, because: "too old", at: now) }
        }
        return GivenUp(count: tooOld.count, oldest: oldest)
    }

    /// Returns what a selection means, oldest first, at most `limit`.
    package func entries(
        _ selection: OutboxSelection, limit: Int, on shelf: some DeliveryShelf
    ) throws(JournalFailure) -> [OutboxEntry] {
        var entries: [OutboxEntry] = []
        for (_, row) in selected(selection).prefix(max(limit, 0)) {
            guard let delivery = try shelf.delivery(row.serial) else { continue }
            entries.append(OutboxEntry(row, delivery))
        }
        return entries
    }

    /// Moves dead letters back to pending, as far as there is room; those that another sink got only if they are named.
    package mutating func retry(_ selection: OutboxSelection, at now: Instant) -> Int {
        var moved = 0
        for (sink, row) in selected(selection) where row.isDead && (!row.isMoved || selection.serials != nil) {
            guard share(sink, { $0.hasRoom(bytes: row.byteCount) }) else { continue }
            share(sink) { $0.revive(row.serial, at: now) }
            touch(sink)
            ring(sink)
            moved += 1
        }
        return moved
    }

    /// Makes dead letters, and pending deliveries whose sink is gone or that are named, new effects of `target`.
    package mutating func retry(
        _ selection: OutboxSelection, to target: String, at now: Instant, ledger: inout Ledger,
        on shelf: inout some DeliveryShelf
    ) throws(JournalFailure) -> Int {
        let sinks = Set(ledger.plan.sinkNames)
        guard sinks.contains(target) else { return 0 }
        var moved = 0
        for (sink, row) in selected(selection) where sink != target && !row.isClaimed {
            if row.isPending, sinks.contains(sink), selection.serials == nil { continue }
            if row.isMoved, selection.serials == nil { continue }
            guard var delivery = try shelf.delivery(row.serial) else { continue }
            let serial = ledger.nextSerial()
            delivery.key = delivery.key(for: target, serial: serial)
            delivery.sink = target
            let bytes = delivery.byteCount
            guard !holds(delivery.key, sink: target), share(target, { $0.hasRoom(bytes: bytes) }) else { continue }
            guard try store(delivery, serial: serial, at: now, on: &shelf) else { continue }
            let reason = "moved to \(target)"
            share(sink) { share in
                if row.isDead {
                    share.markMoved(row.serial, because: reason)
                } else {
                    share.bury(row.serial, because: reason, isMoved: true, at: now)
                }
            }
            touch(sink)
            moved += 1
        }
        return moved
    }

    /// Makes pending deliveries dead, and forgets the text of dead ones.
    package mutating func drop(_ selection: OutboxSelection, at now: Instant) -> Int {
        var dropped = 0
        for (sink, row) in selected(selection) where !row.isClaimed {
            share(sink) { share in
                if row.isDead {
                    share.forget(row.serial, at: now)
                } else {
                    share.bury(row.serial, because: "dropped by hand", at: now)
                }
            }
            touch(sink)
            dropped += 1
        }
        return dropped
    }

    /// What a selection means, oldest first.
    private func selected(_ selection: OutboxSelection) -> [(sink: String, row: OutboxRow)] {
        var found: [(sink: String, row: OutboxRow)] = []
        for (sink, share) in shares where selection.sink == nil || selection.sink == sink {
            if let serials = selection.serials {
                let rows = serials.compactMap { share.rows[$0] }
                found.append(contentsOf: rows.filter { selection.covers($0, of: sink) }.map { (sink, $0) })
            } else {
                found.append(
                    contentsOf: share.rows.values.lazy.filter { selection.covers($0, of: sink) }.map { (sink, $0) })
            }
        }
        return found.sorted { $0.row.serial < $1.row.serial }
    }
}

extension OutboxEntry {
    /// Creates an entry from the row of a delivery that is pending or dead.
    package init(_ row: OutboxRow, _ delivery: Delivery) {
        let state: State =
            switch row.state {
            case .due: .due
            case .waiting(let until): .waiting(until: until)
            case .claimed: .claimed
            case .dead(let diedAt), .ended(_, let diedAt): .dead(at: diedAt)
            }
        self.init(
            serial: row.serial, delivery: delivery, state: state, acceptedAt: row.acceptedAt, attempts: row.attempts,
            isAside: row.isAside, lastError: row.lastError)
    }
}

extension Delivery {
    /// The key of the same notice for another sink.
    fileprivate func key(for sink: String, serial: UInt64) -> String {
        switch content {
        case .event(let event): DeliveryKey.event(event, rule: notice.rule, sink: sink)
        case .digest:
            DeliveryKey.digest(
                rule: notice.rule, sink: sink, group: EffectKey(othersOf: notice.rule, sink: sink), serial: serial)
        case .briefing(let summary): DeliveryKey.briefing(sink: sink, time: summary.key.string, serial: serial)
        }
    }
}
