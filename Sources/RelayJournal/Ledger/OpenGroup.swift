internal import GLibRuntime
internal import RelayCore

/// An open digest: what was gathered so far, and when it closes.
struct OpenGroup: Sendable {
    /// Why a group was opened.
    enum Sort: Sendable {
        /// By the `digest` of its rule, as it was then.
        case digest(DigestPolicy)
        /// By the `excess` of a limit, as it was then.
        case excess(LimitPolicy)
    }

    /// What makes an event belong to it.
    let key: EffectKey
    /// Its rule and its sink.
    let scope: Scope
    /// Its number in the order of opening, never used again.
    let serial: UInt64
    /// Why it was opened.
    let sort: Sort
    /// Whether it is the group that a rule shares for a sink.
    let isShared: Bool
    /// When it closes.
    var deadline: Deadline
    /// The limit key of its first event, which is that of its notice unless it is shared; nil as long as it is empty.
    var limitKey: EffectKey?
    /// What was gathered.
    var gathering = Gathering()

    /// The number of events that closes it early.
    var max: Int? {
        if case .digest(let policy) = sort { policy.max } else { nil }
    }

    /// The fields that make the group.
    var by: [KeyField] {
        switch sort {
        case .digest(let policy): policy.by
        case .excess(let policy): policy.by
        }
    }

    /// The group as people and machines read it: the values of `by` as they came in its first event.
    var label: UntrustedText {
        if isShared { return UntrustedText("others") }
        return gathering.items.first.map { by.label(of: $0.event) } ?? UntrustedText()
    }

    /// Whether a policy goes on with the group; else it has no place any more and closes.
    func isKept(by policy: EffectPolicy) -> Bool {
        switch (sort, policy.digest) {
        case (.digest(let old), let new?): old.groups(as: new)
        case (.excess(let old), nil):
            policy.limit.map { $0.excess == .digest && $0.per == old.per && Set($0.by) == Set(old.by) } ?? false
        default: false
        }
    }
}

extension DigestPolicy {
    /// Whether groups and their windows are the same.
    func groups(as other: DigestPolicy) -> Bool {
        guard Set(by) == Set(other.by) else { return false }
        switch (timing, other.timing) {
        case (.window(let window), .window(let other)): return window == other
        case (.at(let times), .at(let other)):
            return Set(times.minutes) == Set(other.minutes) && times.zone.name == other.zone.name
        default: return false
        }
    }

    /// Returns when a group closes that opens now.
    func deadline(at now: Moment) -> Deadline {
        switch timing {
        case .window(let window): .relay(now.relay + window)
        case .at(let times): .wall(times.next(after: now.wall))
        }
    }
}
