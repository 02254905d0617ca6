internal import RelayCore

/// An effect on its way through a ledger.
struct Offer {
    let event: Event
    /// The place of its rule.
    let rule: Int
    let policy: EffectPolicy
    let scope: Scope
    /// The key of a delivery that tells of the event alone.
    let key: String

    /// What a gathering keeps of the event.
    var item: Gathering.Item {
        let event = event.cut(to: Gathering.mostBytesOfEvent, keepsRaw: policy.keepsRaw)
        return Gathering.Item(event, rule: scope.rule)
    }
}

extension Ledger {
    /// Puts one effect through its steps.
    mutating func accept(
        _ effect: Effect, of event: Event, at now: Moment, into store: inout some DeliveryStore
    ) throws(JournalFailure) -> Placement {
        let policy = plan.policies[effect.rule]
        let scope = Scope(rule: policy.rule, sink: plan.sinkNames[effect.sink])
        if book.covers(event, rule: scope.rule, sink: scope.sink, at: now.wall) { return suppress(.silenced, scope) }
        let key = DeliveryKey.event(event, rule: scope.rule, sink: scope.sink)
        // Before a duplicate could be counted or charged anywhere.
        if store.holds(key, sink: scope.sink) { return suppress(.duplicate, scope) }
        if let `repeat` = policy.repeat {
            let key = scope.key(.repeat, by: `repeat`.by, of: event)
            guard repeats.pass(key, within: `repeat`.within, at: now.relay) else { return suppress(.duplicate, scope) }
        }
        let offer = Offer(event: event, rule: effect.rule, policy: policy, scope: scope, key: key)
        if let digest = policy.digest { return try join(digest, offer, at: now, into: &store) }
        if let held = hold(offer, at: now) { return held }
        guard let limit = policy.limit else { return try deliver(offer, suppressed: 0, at: now, into: &store) }
        return try charge(limit, offer, at: now, into: &store)
    }

    // MARK: Digest

    private mutating func join(
        _ digest: DigestPolicy, _ offer: Offer, at now: Moment, into store: inout some DeliveryStore
    ) throws(JournalFailure) -> Placement {
        let (key, isShared) = groupKey(offer.scope.key(.digest, by: digest.by, of: offer.event), offer.scope)
        if let place = groups.find(key) { return try add(offer, to: place, at: now, into: &store) }
        let place = open(key, isShared: isShared, .digest(digest), offer.scope, until: digest.deadline(at: now))
        guard digest.sendsFirst else { return try add(offer, to: place, at: now, into: &store) }
        return try sendFirst(offer, besides: place, at: now, into: &store)
    }

    /// Sends the event that opens a window, unless a quiet time or the limit keeps it.
    private mutating func sendFirst(
        _ offer: Offer, besides place: GroupTable.Place, at now: Moment, into store: inout some DeliveryStore
    ) throws(JournalFailure) -> Placement {
        if let held = hold(offer, at: now) { return held }
        guard let limit = offer.policy.limit else { return try deliver(offer, suppressed: 0, at: now, into: &store) }
        let slot = limitSlot(limit, offer, at: now)
        if limits.whenFree(slot, limit, at: now.relay) == nil {
            return try deliver(offer, charging: slot, limit, at: now, into: &store)
        }
        switch limit.excess {
        case .digest: return try add(offer, to: place, at: now, into: &store)
        case .drop: return refuse(offer, slot, limit)
        }
    }

    /// Returns the key of the group that an effect joins: its own, or the shared one if no more can be opened.
    private func groupKey(_ own: EffectKey, _ scope: Scope) -> (EffectKey, isShared: Bool) {
        groups.isFull && groups.find(own) == nil ? (scope.others, true) : (own, false)
    }

    mutating func open(
        _ key: EffectKey, isShared: Bool, _ sort: GroupSort, _ scope: Scope, until deadline: Deadline
    ) -> GroupTable.Place {
        groups.open(
            OpenGroup(
                key: key, scope: scope, serial: nextSerial(), sort: sort, isShared: isShared, deadline: deadline))
    }

    /// Adds an effect to an open group, which may close it.
    private mutating func add(
        _ offer: Offer, to place: GroupTable.Place, at now: Moment, into store: inout some DeliveryStore
    ) throws(JournalFailure) -> Placement {
        countPending(offer.scope.sink)
        let isFirst = groups.isEmpty(place)
        let joined = groups.add(
            offer.item, isListed: isFirst || hasRoomToList, limitKey: isFirst ? ownLimitKey(offer) : nil, to: place)
        if joined.isShared { countSharedGroup() }
        guard joined.isFull else { return Placement(.gathered(until: joined.deadline), serial: place.serial) }
        let closing = try close(place, at: now, into: &store)
        return Placement(acceptance(by: closing, at: now), serial: place.serial)
    }

    /// What became of the effect that let its group close.
    private func acceptance(by closing: Closing, at now: Moment) -> Acceptance {
        switch closing {
        case .stored, .vanished: .gathered(until: .relay(now.relay))
        case .waits(let until): .gathered(until: .relay(until))
        case .held(let time, let until): .held(time: time, until: until)
        case .suppressed(let receipt): .suppressed(receipt)
        case .outboxFull: .outboxFull
        }
    }

    private func ownLimitKey(_ offer: Offer) -> EffectKey? {
        offer.policy.limit.map { offer.scope.key(.limit, by: $0.by, of: offer.event) }
    }

    // MARK: Hold

    /// Lets an effect join the briefing of its rule's quiet time, if that is on.
    private mutating func hold(_ offer: Offer, at now: Moment) -> Placement? {
        guard let (time, until) = heldBy(offer.policy, at: now) else { return nil }
        let sink = offer.scope.sink
        let (serial, isNew) = openBriefing(sink: sink, time: time)
        countPending(sink)
        let (item, isListed) = (offer.item, isNew || hasRoomToList)
        briefings.modify(sink: sink, time: time) { gathering in
            if isListed { gathering.add(item) } else { gathering.countOnly(item.event) }
        }
        return Placement(.held(time: time, until: until), serial: serial)
    }

    /// Opens a briefing unless it is open; returns its serial and whether it was not.
    mutating func openBriefing(sink: String, time: String) -> (serial: UInt64, isNew: Bool) {
        if let serial = briefings.serial(sink: sink, time: time) { return (serial, false) }
        let serial = nextSerial()
        briefings.open(sink: sink, time: time, serial: serial)
        return (serial, true)
    }

    // MARK: Limit

    private mutating func charge(
        _ limit: LimitPolicy, _ offer: Offer, at now: Moment, into store: inout some DeliveryStore
    ) throws(JournalFailure) -> Placement {
        let slot = limitSlot(limit, offer, at: now)
        // While a group of the key is open all join it, so that the order holds.
        if let place = groups.find(slot.key) { return try add(offer, to: place, at: now, into: &store) }
        if limits.whenFree(slot, limit, at: now.relay) == nil {
            return try deliver(offer, charging: slot, limit, at: now, into: &store)
        }
        switch limit.excess {
        case .drop: return refuse(offer, slot, limit)
        case .digest: return try gatherExcess(limit, offer, slot, at: now, into: &store)
        }
    }

    private mutating func gatherExcess(
        _ limit: LimitPolicy, _ offer: Offer, _ slot: LimitTable.Slot, at now: Moment,
        into store: inout some DeliveryStore
    ) throws(JournalFailure) -> Placement {
        let (key, isShared) = slot.isShared ? (slot.key, true) : groupKey(slot.key, offer.scope)
        let place =
            groups.find(key)
            ?? open(key, isShared: isShared, .excess(limit), offer.scope, until: .relay(now.relay + limit.per))
        return try add(offer, to: place, at: now, into: &store)
    }

    private mutating func limitSlot(_ limit: LimitPolicy, _ offer: Offer, at now: Moment) -> LimitTable.Slot {
        let own = offer.scope.key(.limit, by: limit.by, of: offer.event)
        let slot = limits.slot(for: own, offer.scope, limit, at: now.relay)
        if slot.isShared { countSharedKey() }
        return slot
    }

    private mutating func refuse(
        _ offer: Offer, _ slot: LimitTable.Slot, _ limit: LimitPolicy
    ) -> Placement {
        limits.limit(slot, offer.scope, limit, count: 1)
        return suppress(.limited, offer.scope)
    }

    private mutating func deliver(
        _ offer: Offer, charging slot: LimitTable.Slot, _ limit: LimitPolicy, at now: Moment,
        into store: inout some DeliveryStore
    ) throws(JournalFailure) -> Placement {
        let placement = try deliver(offer, suppressed: limits.untold(slot), at: now, into: &store)
        // What the outbox had no room for is no notice.
        if placement.acceptance == .stored { limits.charge(slot, offer.scope, limit, at: now.relay) }
        return placement
    }

    private mutating func deliver(
        _ offer: Offer, suppressed: Int, at now: Moment, into store: inout some DeliveryStore
    ) throws(JournalFailure) -> Placement {
        let notice = plan.renderer.notice(rule: offer.rule, for: offer.event, suppressed: suppressed)
        let delivery = Delivery(key: offer.key, sink: offer.scope.sink, notice: notice, content: .event(offer.event))
        let serial = nextSerial()
        let isStored = try store.store(delivery, serial: serial, at: now.relay)
        return isStored ? Placement(.stored, serial: serial) : Placement(.outboxFull)
    }
}
