package import RelayCore

/// Decides when to ping and when a connection counts as dead.
///
/// Belongs to one connection and dies with it.
///
/// Any byte received proves life. Silence for `ping` calls for a ping, silence for `ping + pongTimeout` for an
/// abort. A quiet connection whose pongs arrive wakes once in `ping`: a byte after a ping moves the deadline, so the
/// caller waits anew after `heard` returned true.
package struct Liveness: Sendable, Equatable {
    /// What the connection does next.
    package enum Action: Sendable, Equatable {
        /// Send a ping, then ask again.
        case sendPing
        /// Ask again then, or when `heard` says so.
        case wait(until: Instant)
        /// Abort the connection: the peer is dead.
        case abort
        /// The process was away: take what the socket holds, then tell `returned`.
        case takeWhatIsHeld
    }

    /// How late a wake-up must be to mean that the process was away.
    package static let awayAfter = Duration.seconds(10)

    private enum Phase: Equatable {
        /// Bytes came lately enough.
        case listening
        /// A ping went out at this instant and nothing came since.
        case pinged(Instant)
        /// Reading is paused by us, so silence proves nothing.
        case paused
    }

    private let ping: Duration
    private let pongTimeout: Duration
    private var phase = Phase.listening
    private var heardAt: Instant
    private var askedFor: Instant?

    /// Creates the liveness of a connection that opened at `now`.
    package init(ping: Duration, pongTimeout: Duration, at now: Instant) {
        self.ping = ping
        self.pongTimeout = pongTimeout
        heardAt = now
    }

    /// Takes note that bytes came.
    ///
    /// - Returns: whether the instant of the last `.wait` is void, so that the caller must ask anew.
    package mutating func heard(at now: Instant) -> Bool {
        heardAt = max(heardAt, now)
        guard case .pinged = phase else { return false }
        phase = .listening
        return true
    }

    /// Stops the deadline while reading is paused.
    package mutating func pause() {
        phase = .paused
    }

    /// Runs the deadline again, from the start.
    package mutating func resume(at now: Instant) {
        guard phase == .paused else { return }
        phase = .listening
        heardAt = now
    }

    /// Says what to do at `now`.
    package mutating func tick(at now: Instant) -> Action {
        if let asked = askedFor, now - asked > Self.awayAfter, heardAt < asked, phase != .paused {
            askedFor = nil
            return .takeWhatIsHeld
        }
        switch phase {
        case .paused:
            return .wait(until: .distantFuture)
        case .listening:
            let due = heardAt + ping
            guard now >= due else { return wait(until: due) }
            phase = .pinged(now)
            return .sendPing
        case .pinged(let pingedAt):
            let deadline = pingedAt + pongTimeout
            guard now >= deadline else { return wait(until: deadline) }
            return .abort
        }
    }

    /// Says what to do after `.takeWhatIsHeld`: a socket that held something goes on, and is asked for proof at once.
    package mutating func returned(foundBytes: Bool, at now: Instant) -> Action {
        guard foundBytes else { return .abort }
        heardAt = now
        phase = .pinged(now)
        return .sendPing
    }

    private mutating func wait(until deadline: Instant) -> Action {
        askedFor = deadline
        return .wait(until: deadline)
    }
}
