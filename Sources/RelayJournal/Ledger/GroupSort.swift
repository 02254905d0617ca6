package import RelayCore

/// Why a group was opened.
package enum GroupSort: Sendable, Equatable {
    /// By the `digest` of its rule, as it was then.
    case digest(DigestPolicy)
    /// By the `excess` of a limit, as it was then.
    case excess(LimitPolicy)

    /// How long the group is open; nil if it closes at a time of day.
    var window: Duration? {
        switch self {
        case .excess(let policy): policy.per
        case .digest(let policy):
            if case .window(let window) = policy.timing { window } else { nil }
        }
    }
}
