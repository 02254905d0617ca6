internal import GLibRuntime
internal import RelayCore

/// Which times of a file are on, remembered until one of them may change.
final class TimeClock: Sendable {
    /// The states between two instants.
    private struct States {
        var from: Instant
        var until: Instant
        var bits: UInt64
    }

    /// The times, at most 64; the state of each is the bit of its place.
    private let times: [QuietTime]
    private let states = Locked(States(from: .distantFuture, until: .distantFuture, bits: 0))

    /// Creates a clock that knows no moment yet.
    init(_ times: [QuietTime]) {
        self.times = times
    }

    /// Returns a bit for each time that is on at an instant of the wall clock.
    func bits(at wall: Instant) -> UInt64 {
        states.withLock { states in
            // Before its beginning the memory says nothing: the wall clock can be set back.
            if wall >= states.until || wall < states.from { states = compute(at: wall) }
            return states.bits
        }
    }

    private func compute(at wall: Instant) -> States {
        var states = States(from: wall, until: .distantFuture, bits: 0)
        for (place, time) in times.enumerated() {
            let state = time.state(at: wall)
            if state.isOn { states.bits |= 1 << UInt64(place) }
            states.until = min(states.until, state.until)
        }
        return states
    }
}
