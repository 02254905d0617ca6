package import RelayCore

extension Ledger {
    /// What became of a group that was to close.
    enum Closing {
        /// It had nothing to tell.
        case vanished
        /// Its notice is the delivery with this serial.
        case stored(serial: UInt64)
        /// It found no free slot and stays open.
        case waits(until: Instant)
        /// It joined the briefing of that time.
        case held(time: String, until: Instant)
        /// All of its effects ended in receipts.
        case suppressed(Receipt)
        /// The share of its sink is full: all of its effects are dead.
        case outboxFull
    }

    /// Closes what is due: groups in the order of opening, then briefings.
    package mutating func advance(to now: Moment, into store: inout some DeliveryStore) throws(JournalFailure) {
        limits.removeExpired(at: now.relay)
        repeats.removeExpired(at: now.relay)
        try closeGroups(groups.popDue(at: now), at: now, into: &store)
        try closeBriefings(at: now, into: &store) { ledger, time in
            ledger.times.end(of: time, in: ledger.plan.times, at: now.wall) == nil
        }
    }

    /// Returns when the next group or briefing is due: the earliest by each clock.
    package mutating func deadlines(at now: Moment) -> [Deadline] {
        var (relay, wall) = groups.deadlines()
        for time in briefings.times {
            let end = times.end(of: time, in: plan.times, at: now.wall) ?? now.wall
            wall = min(wall ?? end, end)
        }
        return [relay.map(Deadline.relay), wall.map(Deadline.wall)].compactMap(\.self)
    }

    /// Closes all groups and briefings now, before the ledger is lost with its process.
    package mutating func finish(at now: Moment, into store: inout some DeliveryStore) throws(JournalFailure) {
        // What is due closes as it would have.
        try advance(to: now, into: &store)
        groups.dissolveLines()
        for place in groups.all { _ = try close(place, forGood: true, at: now, into: &store) }
        try closeBriefings(at: now, into: &store) { _, _ in true }
    }

    // MARK: Groups

    /// Closes groups that are due, in the order of opening; one that leaves its line for good lets the next one leave.
    ///
    /// No window follows one that is the last.
    mutating func closeGroups(
        _ due: Heap<GroupTable.Due>, isLastWindow: (GroupTable.Place) -> Bool = { _ in false }, at now: Moment,
        into store: inout some DeliveryStore
    ) throws(JournalFailure) {
        var due = due
        while let first = due.first {
            due.removeFirst()
            let closing = try close(first.place, isLastWindow: isLastWindow(first.place), at: now, into: &store)
            // Of the same limit key no later one finds a slot either.
            if case .waits = closing { continue }
            if let next = first.line.flatMap({ groups.popNext(of: $0) }) { due.insert(next) }
        }
    }

    /// Closes a group, or lets it wait for a free slot.
    ///
    /// One that closes for good neither waits nor opens the next window.
    mutating func close(
        _ place: GroupTable.Place, forGood: Bool = false, isLastWindow: Bool = false, at now: Moment,
        into store: inout some DeliveryStore
    ) throws(JournalFailure) -> Closing {
        guard let group = groups[place] else { return .vanished }
        let policy = policy(of: group)
        let closing = try end(group, policy, canWait: !forGood, at: now, into: &store)
        if case .waits(let until) = closing {
            groups.postpone(place, until: until, per: policy.limit?.per ?? .zero)
            return closing
        }
        _ = groups.remove(place)
        switch closing {
        case .vanished, .waits: break
        case .stored(let serial): note(group.serial, .delivery(serial))
        case .held(let time, _): note(group.serial, .briefing(hold(group, time: time)))
        case .suppressed(let receipt): note(group.serial, .receipt(receipt))
        case .outboxFull: note(group.serial, .outboxFull)
        }
        if !forGood, !isLastWindow, group.gathering.count > 0 { openNext(after: group, policy, at: now) }
        return closing
    }

    /// The policy in force of the rule of a group.
    func policy(of group: OpenGroup) -> EffectPolicy {
        numbers[group.scope.rule].map { plan.policies[$0] } ?? EffectPolicy(rule: group.scope.rule)
    }

    /// Returns the time that a policy holds by and when it ends, if it is on.
    mutating func heldBy(_ policy: EffectPolicy, at now: Moment) -> (time: String, until: Instant)? {
        guard let time = policy.hold, let until = times.end(of: time, in: plan.times, at: now.wall) else { return nil }
        return (time, until)
    }

    private mutating func note(_ serial: UInt64, _ fate: ClosingRow.Fate) {
        notes?.closings.append(ClosingRow(serial: serial, fate: fate))
    }

    /// Opens the window that follows one which collected something.
    private mutating func openNext(after group: OpenGroup, _ policy: EffectPolicy, at now: Moment) {
        guard case .digest(let old) = group.sort, old.sendsFirst, let digest = policy.digest, digest.sendsFirst,
            Set(old.by) == Set(digest.by), groups.find(group.key) == nil
        else { return }
        _ = open(
            group.key, isShared: group.isShared, .digest(digest), group.scope, until: digest.deadline(at: now))
    }

    /// Decides what becomes of a group, and does it but for the table of groups.
    private mutating func end(
        _ group: OpenGroup, _ policy: EffectPolicy, canWait: Bool, at now: Moment, into store: inout some DeliveryStore
    ) throws(JournalFailure) -> Closing {
        guard group.gathering.count > 0 else { return .vanished }
        if let (time, until) = heldBy(policy, at: now) { return .held(time: time, until: until) }
        guard let limit = policy.limit else { return try deliver(group, suppressed: 0, at: now, into: &store) }
        let slot = limitSlot(of: group, limit, at: now)
        if let free = limits.whenFree(slot, limit, at: now.relay) {
            if limit.excess == .drop {
                limits.limit(slot, group.scope, limit, count: group.gathering.count)
                suppressPending(.limited, group.scope, count: group.gathering.count)
                return .suppressed(.limited)
            }
            if canWait { return .waits(until: free) }
        }
        let closing = try deliver(group, suppressed: limits.untold(slot), at: now, into: &store)
        if case .stored = closing { limits.charge(slot, group.scope, limit, at: now.relay) }
        return closing
    }

    /// A shared group is charged to the shared key, unless it tells of one event only, as that one's own notice would.
    private mutating func limitSlot(
        of group: OpenGroup, _ limit: LimitPolicy, at now: Moment
    ) -> LimitTable.Slot {
        guard let own = group.limitKey, !group.isShared || group.gathering.count == 1 else {
            return limits.sharedSlot(group.scope)
        }
        return limits.slot(for: own, group.scope, limit, at: now.relay)
    }

    /// Lets what a group gathered join a briefing, and returns its serial.
    private mutating func hold(_ group: OpenGroup, time: String) -> UInt64 {
        let sink = group.scope.sink
        let serial = openBriefing(sink: sink, time: time).serial
        briefings.modify(sink: sink, time: time) { $0.add(group.gathering) }
        return serial
    }

    private mutating func deliver(
        _ group: OpenGroup, suppressed: Int, at now: Moment, into store: inout some DeliveryStore
    ) throws(JournalFailure) -> Closing {
        let scope = group.scope
        let delivery = delivery(of: group, suppressed: suppressed)
        if case .event = delivery.content, store.holds(delivery.key, sink: scope.sink) {
            suppressPending(.duplicate, scope, count: 1)
            return .suppressed(.duplicate)
        }
        handOver(scope.sink, count: group.gathering.count)
        let serial = nextSerial()
        return try store.store(delivery, serial: serial, at: now.relay) ? .stored(serial: serial) : .outboxFull
    }

    private func delivery(of group: OpenGroup, suppressed: Int) -> Delivery {
        let scope = group.scope
        let number = numbers[scope.rule] ?? Effect.nobody
        // A digest of one is an ordinary notice.
        if group.gathering.count == 1, let event = group.gathering.items.first?.event {
            return Delivery(
                key: DeliveryKey.event(event, rule: scope.rule, sink: scope.sink), sink: scope.sink,
                notice: plan.renderer.notice(rule: number, for: event, suppressed: suppressed), content: .event(event))
        }
        return Delivery(
            key: DeliveryKey.digest(rule: scope.rule, sink: scope.sink, group: group.key, serial: group.serial),
            sink: scope.sink,
            notice: plan.renderer.notice(rule: number, for: group.gathering, suppressed: suppressed),
            content: .digest(Summary(key: group.label, of: group.gathering)))
    }

    // MARK: Briefings

    /// Closes the briefings of the times that are over, in the order of opening.
    mutating func closeBriefings(
        at now: Moment, into store: inout some DeliveryStore, where isOver: (inout Ledger, String) -> Bool
    ) throws(JournalFailure) {
        if briefings.isEmpty { return }
        for briefing in briefings.all where isOver(&self, briefing.time) {
            briefings.remove(briefing)
            let gathering = briefing.gathering
            handOver(briefing.sink, count: gathering.count)
            let delivery = Delivery(
                key: DeliveryKey.briefing(sink: briefing.sink, time: briefing.time, serial: briefing.serial),
                sink: briefing.sink, notice: plan.renderer.briefing(time: briefing.time, of: gathering),
                content: .briefing(Summary(key: UntrustedText(briefing.time), of: gathering)))
            let serial = nextSerial()
            let isStored = try store.store(delivery, serial: serial, at: now.relay)
            note(briefing.serial, isStored ? .delivery(serial) : .outboxFull)
        }
    }
}
