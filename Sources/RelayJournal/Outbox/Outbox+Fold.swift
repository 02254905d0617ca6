internal import RelayCore

extension Outbox {
    /// The most deliveries that are folded at once: as many events as a digest lists.
    private static let mostFolded = 10_000

    /// Folds the backlog that a delivery is part of, if the policy wants it: one digest a group, all else stays.
    ///
    /// A group of one is left as it is, and never looked at again. A rule that is gone has no words for a digest.
    mutating func fold(
        _ row: OutboxRow, of sink: String, _ backlog: BacklogPolicy, at now: Instant, ledger: inout Ledger,
        on shelf: inout some DeliveryShelf
    ) throws(JournalFailure) -> ClaimBatch.Fold? {
        guard row.isFoldable, let number = ledger.numbers[row.rule] else { return nil }
        let serials = share(sink) { $0.foldable(row.rule, backlog, most: Self.mostFolded, at: now) }
        if serials.isEmpty { return nil }
        let scope = Scope(rule: row.rule, sink: sink)
        var groups = FoldedGroups(policy: ledger.plan.policies[number], scope: scope)
        for serial in serials {
            guard let delivery = try shelf.delivery(serial) else { continue }
            groups.add(delivery, serial: serial)
        }
        var fold = ClaimBatch.Fold(rule: row.rule, deliveries: 0, digests: 0)
        for group in groups.all {
            guard group.serials.count > 1 else { continue }
            let serial = ledger.nextSerial()
            let notice = ledger.plan.renderer.notice(
                rule: number, for: group.gathering, suppressed: group.suppressed)
            let digest = Delivery(
                key: DeliveryKey.digest(rule: scope.rule, sink: sink, group: group.key, serial: serial), sink: sink,
                notice: notice, content: .digest(Summary(key: group.label, of: group.gathering)))
            try replace(group.serials, with: digest, serial: serial, at: now, on: &shelf)
            fold.deliveries += group.serials.count
            fold.digests += 1
        }
        for serial in serials { share(sink) { $0.leaveAlone(serial) } }
        return fold.digests > 0 ? fold : nil
    }

    /// Puts a digest in the place of the last delivery that it tells of, and of its age.
    private mutating func replace(
        _ serials: [UInt64], with digest: Delivery, serial: UInt64, at now: Instant, on shelf: inout some DeliveryShelf
    ) throws(JournalFailure) {
        guard let last = serials.last else { return }
        let acceptedAt = shares[digest.sink]?.rows[last]?.acceptedAt ?? now
        try shelf.put(digest, serial: serial)
        share(digest.sink) { share in
            for folded in serials { share.end(folded, .folded(into: serial), at: now) }
            share.store(OutboxRow(digest, serial: serial, place: last, at: acceptedAt))
        }
    }
}

/// What is to be folded, by group, in the order of the first events.
private struct FoldedGroups {
    struct Group {
        let key: EffectKey
        let label: UntrustedText
        var gathering = Gathering()
        var serials: [UInt64] = []
        /// What the notices would have told of limits.
        var suppressed = 0
    }

    private let policy: EffectPolicy
    private let scope: Scope
    private(set) var all: [Group] = []
    /// The place of the group that a key is gathered in.
    private var places: [EffectKey: Int] = [:]

    init(policy: EffectPolicy, scope: Scope) {
        self.policy = policy
        self.scope = scope
    }

    private var by: [KeyField] { policy.digest?.by ?? policy.limit?.by ?? [] }

    mutating func add(_ delivery: Delivery, serial: UInt64) {
        guard case .event(let event) = delivery.content else { return }
        let key = scope.key(.digest, by: by, of: event)
        var place = places[key] ?? all.count
        if place < all.count, all[place].serials.count >= BacklogPolicy.mostEvents { place = all.count }
        if place == all.count {
            all.append(Group(key: key, label: by.label(of: event)))
            places[key] = place
        }
        let cut = event.cut(to: Gathering.mostBytesOfEvent, keepsRaw: policy.keepsRaw)
        all[place].gathering.add(Gathering.Item(cut, rule: scope.rule))
        all[place].serials.append(serial)
        all[place].suppressed += delivery.notice.suppressed
    }
}
