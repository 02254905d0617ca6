internal import RelayCore

/// The states of quiet times, each computed again only when it may be otherwise.
struct TimeStates: Sendable {
    private struct Known: Sendable {
        let from: Instant
        let state: QuietTime.State
    }

    private var known: [String: Known] = [:]

    /// Returns when a time that is on ends; nil if it is off, or if there is none of that name.
    mutating func end(of name: String, in times: [String: QuietTime], at wall: Instant) -> Instant? {
        if let known = known[name], known.from <= wall, wall < known.state.until {
            return known.state.isOn ? known.state.until : nil
        }
        guard let state = times[name]?.state(at: wall) else { return nil }
        known[name] = Known(from: wall, state: state)
        return state.isOn ? state.until : nil
    }

    /// Forgets all, as the times changed.
    mutating func removeAll() {
        known.removeAll()
    }
}
