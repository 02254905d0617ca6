/// One moment by the two clocks of a relay.
package struct Moment: Sendable, Equatable {
    /// Relay time: for windows, limits, repeats, retries and leases.
    package var relay: Instant
    /// The wall clock: for quiet hours, times of day and the ends of silences.
    package var wall: Instant

    /// Creates a moment.
    package init(relay: Instant, wall: Instant) {
        self.relay = relay
        self.wall = wall
    }

    /// Creates a moment at which both clocks show the same, as in virtual time.
    package init(_ instant: Instant) {
        self.init(relay: instant, wall: instant)
    }
}

extension RelayClock {
    /// What both clocks show now.
    package func moment() -> Moment { Moment(relay: now(), wall: wallNow()) }
}

/// When something of the journal is due: by relay time or by the wall clock.
package enum Deadline: Sendable, Equatable {
    /// When relay time reaches it.
    case relay(Instant)
    /// When the wall clock reaches it.
    case wall(Instant)

    /// Whether it is reached at `moment`; windows are half open, so it is reached at its very instant.
    package func isReached(at moment: Moment) -> Bool {
        switch self {
        case .relay(let instant): instant <= moment.relay
        case .wall(let instant): instant <= moment.wall
        }
    }

    /// Returns the time from `moment` to the deadline, by its own clock; negative if it has passed.
    package func distance(from moment: Moment) -> Duration {
        switch self {
        case .relay(let instant): instant - moment.relay
        case .wall(let instant): instant - moment.wall
        }
    }
}
