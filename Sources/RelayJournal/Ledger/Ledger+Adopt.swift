package import RelayCore

extension Ledger {
    /// Puts another plan in force, as a reload does.
    ///
    /// What is due closes first, by the old plan; so does, at once, every digest that the new one has no place for. A
    /// time that is gone sends its briefings, and one that was changed counts at once.
    package mutating func adopt(
        _ new: EffectPlan, at now: Moment, into store: inout some DeliveryStore
    ) throws(JournalFailure) {
        try advance(to: now, into: &store)
        let kept = Self.policies(of: new)
        let waiting = groups.waiting
        groups.dissolveLines()
        for place in groups.all {
            guard let group = groups[place], kept[group.scope].map({ group.isKept(by: $0) }) != true else { continue }
            _ = try close(place, forGood: true, at: now, into: &store)
        }
        // The renderer of the old plan still knows the times that are gone.
        try closeBriefings(at: now, into: &store) { _, time in new.times[time] == nil }
        let old = Self.policies(of: plan)
        enforce(new)
        rekey(from: old, to: kept)
        limits.removeShared(at: now.relay) { kept[$0] != nil }
        var due = Heap<GroupTable.Due>()
        for place in waiting { due.insert(GroupTable.Due(place: place)) }
        try closeGroups(due, at: now, into: &store)
        try advance(to: now, into: &store)
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
