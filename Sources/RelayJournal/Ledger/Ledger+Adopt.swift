package import RelayCore

extension Ledger {
    /// Puts another plan in force, as a reload does.
    ///
    /// What is due closes first, by the old plan; so does, at once, every digest that the new one has no place for. One
    /// of a rule that has a limit in the new plan needs a free slot of that for it: no reload sends more than a limit
    /// allows. A time that is gone sends its briefings, and one that was changed counts at once.
    package mutating func adopt(
        _ new: EffectPlan, at now: Moment, into store: inout some DeliveryStore
    ) throws(JournalFailure) {
        try advance(to: now, into: &store)
        let kept = Self.policies(of: new)
        // Until when each of them waits was decided by the old limits.
        var due = Set(groups.waiting)
        groups.dissolveLines()
        let homeless = try closeHomeless(unlessKeptBy: kept, at: now, into: &store)
        // The renderer of the old plan still knows the times that are gone.
        try closeBriefings(at: now, into: &store) { _, time in new.times[time] == nil }
        let old = Self.policies(of: plan)
        enforce(new)
        rekey(from: old, to: kept)
        limits.removeShared(at: now.relay) { kept[$0] != nil }
        due.formUnion(homeless)
        var heap = Heap<GroupTable.Due>()
        for place in due { heap.insert(GroupTable.Due(place: place)) }
        try closeGroups(heap, isLastWindow: Set(homeless).contains, at: now, into: &store)
        for place in homeless { moveExcess(place, to: kept) }
        try advance(to: now, into: &store)
    }

    /// Closes the groups for which there is no place any more, and returns those that need a slot of a limit for it.
    private mutating func closeHomeless(
        unlessKeptBy kept: [Scope: EffectPolicy], at now: Moment, into store: inout some DeliveryStore
    ) throws(JournalFailure) -> [GroupTable.Place] {
        var limited: [GroupTable.Place] = []
        for place in groups.all {
            guard let group = groups[place] else { continue }
            let policy = kept[group.scope]
            if policy.map(group.isKept(by:)) == true { continue }
            if policy?.limit != nil, heldBy(self.policy(of: group), at: now) == nil {
                limited.append(place)
            } else {
                _ = try close(place, forGood: true, at: now, into: &store)
            }
        }
        return limited
    }

    /// Lets the excess of a former limit, if it waits, go on as that of the new one: what is over now joins it.
    private mutating func moveExcess(_ place: GroupTable.Place, to new: [Scope: EffectPolicy]) {
        guard let group = groups[place], case .excess = group.sort, let policy = new[group.scope], policy.digest == nil,
            let limit = policy.limit, limit.excess == .digest
        else { return }
        groups.goOn(place, as: .excess(limit), key: group.isShared ? group.key : group.limitKey ?? group.key)
    }

    /// The policies by rule and sink.
    private static func policies(of plan: EffectPlan) -> [Scope: EffectPolicy] {
        var policies: [Scope: EffectPolicy] = [:]
        for policy in plan.policies {
            for sink in policy.sinks where plan.sinkNames.indices.contains(sink) {
                policies[Scope(rule: policy.rule, sink: plan.sinkNames[sink])] = policy
            }
        }
        return policies
    }

    /// Gives the open groups of limits whose `by` changed their limit keys by the new one.
    private mutating func rekey(from old: [Scope: EffectPolicy], to new: [Scope: EffectPolicy]) {
        for place in groups.all {
            guard let group = groups[place], let limit = new[group.scope]?.limit,
                old[group.scope]?.limit.map({ Set($0.by) }) != Set(limit.by)
            else { continue }
            let first = group.gathering.items.first?.event
            groups.setLimitKey(first.map { group.scope.key(.limit, by: limit.by, of: $0) }, of: place)
        }
    }
}
