package import RelayCore

/// The states of a stream and the edges between them.
///
/// ```
/// disconnected --start--> connecting --opened--> connected
///                          ^      |                  |  |
///                          |      +-----ended-----+  |  +--away--> connecting
///                 waitOver |                      v  v ended
///         (networkBack, tokenChanged) ------- reconnecting
/// any state --stop--> disconnected(stopped), from which no edge leads
/// ```
///
/// Every ending of a dial or a connection but our own stop takes the one edge to `reconnecting`. What has no edge is
/// forbidden: it returns nil and changes nothing.
package struct StreamMachine: Sendable, Equatable {
    /// Why nothing is dialled.
    package enum Rest: Sendable, Equatable {
        /// `start` has not been called.
        case notStarted
        /// The relay stops. Final.
        case stopped
    }

    /// Why a dial is made.
    package enum DialCause: String, Sendable, Equatable {
        /// The first of the process.
        case started = "start"
        /// The delay of the redial policy has passed.
        case waitOver = "wait over"
        /// The network came back.
        case networkBack = "network back"
        /// The file of the token changed.
        case tokenChanged = "token changed"
        /// The process was away (suspended or stopped) and the connection did not outlive it.
        case wasAway = "back from suspend"
    }

    /// Where the stream is, each with its cause.
    package enum State: Sendable, Equatable {
        /// No connection, and none is wanted.
        case disconnected(Rest)
        /// A dial is running: name look-up, TCP, proxy, TLS and the HTTP answer.
        case connecting(DialCause)
        /// Messages flow; the cause is that of the dial.
        case connected(DialCause)
        /// The next dial is due at `dialAt`, because of `ending`.
        case reconnecting(ending: Ending, dialAt: Instant, dialCause: DialCause)
    }

    /// What is to be done.
    package enum Step: Sendable, Equatable {
        /// Dial now.
        case dial
        /// Wait, and call `waited` then.
        case wait(until: Instant)
        /// Let the connection run until it ends.
        case run
        /// Nothing any more.
        case finish
    }

    /// Where the stream is.
    package private(set) var state = State.disconnected(.notStarted)
    /// Since when.
    package private(set) var since: Instant
    /// The dials since a connection last opened.
    package private(set) var attempts = 0
    /// The redial policy with its history.
    package private(set) var policy: RedialPolicy
    private var dialledAt: Instant

    /// Creates a machine at rest.
    package init(policy: RedialPolicy, at now: Instant) {
        self.policy = policy
        since = now
        dialledAt = now
    }

    /// Edge `disconnected(notStarted)` to `connecting`.
    package mutating func start(at now: Instant) -> Step? {
        guard state == .disconnected(.notStarted) else { return nil }
        return dial(.started, at: now)
    }

    /// Edge `connecting` to `connected`: the server answered 101 as it must.
    package mutating func opened(at now: Instant) -> Step? {
        guard case .connecting(let cause) = state else { return nil }
        move(to: .connected(cause), at: now)
        attempts = 0
        return .run
    }

    /// Edge `connecting` or `connected` to `reconnecting`: the one exit of every dial and every connection.
    package mutating func ended(
        _ ending: Ending, at now: Instant, using generator: inout some RandomNumberGenerator
    ) -> Step? {
        switch state {
        case .disconnected, .reconnecting: return nil
        case .connecting: break
        case .connected: policy.connectionLasted(now - since)
        }
        let dialAt = now + policy.delay(after: ending.cause, using: &generator)
        move(to: .reconnecting(ending: ending, dialAt: dialAt, dialCause: .waitOver), at: now)
        return .wait(until: dialAt)
    }

    /// Edge `connected` to `connecting`: the process was away and the socket held nothing.
    package mutating func away(at now: Instant) -> Step? {
        guard case .connected = state else { return nil }
        policy.connectionLasted(now - since)
        return dial(.wasAway, at: now)
    }

    /// Edge `reconnecting` to `connecting`, once the time has come; before it, no edge but the rest of the wait.
    package mutating func waited(at now: Instant) -> Step? {
        guard case .reconnecting(_, let dialAt, let cause) = state else { return nil }
        guard now >= dialAt else { return .wait(until: dialAt) }
        return dial(cause, at: now)
    }

    /// Ends a wait that the network caused.
    ///
    /// A wait that the server asked for, or that waits for a token, goes on.
    package mutating func networkBack(at now: Instant) -> Step? {
        guard case .reconnecting(let ending, let dialAt, _) = state, ending.cause == .network else { return nil }
        return hasten(ending, dialAt: dialAt, cause: .networkBack, at: now)
    }

    /// Ends a wait for a token, in any other state only sees to it that the new token gets a prompt retry.
    package mutating func tokenChanged(at now: Instant) -> Step? {
        policy.tokenChanged()
        guard case .reconnecting(let ending, let dialAt, _) = state, ending.cause == .authOrPolicy else { return nil }
        return hasten(ending, dialAt: dialAt, cause: .tokenChanged, at: now)
    }

    /// Edge from any state to `disconnected(stopped)`.
    package mutating func stop(at now: Instant) -> Step? {
        guard state != .disconnected(.stopped) else { return nil }
        move(to: .disconnected(.stopped), at: now)
        return .finish
    }

    /// Brings the next dial forward to now, but not closer to the last one than the base delay: what flaps must
    /// not make the relay hammer.
    private mutating func hasten(_ ending: Ending, dialAt: Instant, cause: DialCause, at now: Instant) -> Step {
        let earliest = max(now, dialledAt + policy.backoff.base)
        guard earliest < dialAt else { return .wait(until: dialAt) }
        guard earliest > now else { return dial(cause, at: now) }
        state = .reconnecting(ending: ending, dialAt: earliest, dialCause: cause)
        return .wait(until: earliest)
    }

    private mutating func dial(_ cause: DialCause, at now: Instant) -> Step {
        move(to: .connecting(cause), at: now)
        dialledAt = now
        if attempts < .max { attempts += 1 }
        return .dial
    }

    private mutating func move(to next: State, at now: Instant) {
        state = next
        since = now
    }
}
