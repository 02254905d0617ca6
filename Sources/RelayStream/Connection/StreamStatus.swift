package import RelayCore

/// What a stream is doing, for status, metrics and a person.
package struct StreamStatus: Sendable, Equatable {
    /// The state's name: `disconnected`, `connecting`, `connected`, `reconnecting`.
    package enum Name: String, Sendable, CaseIterable {
        case disconnected, connecting, connected, reconnecting
    }

    /// The name of the stream.
    package var stream: String
    /// The state.
    package var state: Name
    /// Since when, in relay time.
    package var since: Instant
    /// Why it is in that state, in words.
    package var cause: String
    /// Whether it waits for another token or address.
    package var isRefused: Bool
    /// The dials since a connection last opened.
    package var attempts: Int
    /// How the last dial or connection ended, if one has.
    package var lastError: String?
    /// When the next dial is due, in relay time, while it waits for one.
    package var nextDialAt: Instant?
    /// When bytes last came, in relay time, while it is connected.
    package var lastBytesAt: Instant?
    /// The connections that opened since the start of the process.
    package var connections: Int
    /// The messages received since the start of the process.
    package var messages: Int
    /// Whether something that was missed is still being fetched.
    package var isCatchingUp = false
    /// Why it could not be fetched at the last try.
    package var catchUpError: String?

    /// Describes the machine.
    init(stream: String, machine: StreamMachine, lastError: String?) {
        self.stream = stream
        since = machine.since
        attempts = machine.attempts
        self.lastError = lastError
        isRefused = false
        connections = 0
        messages = 0
        switch machine.state {
        case .disconnected(let rest):
            state = .disconnected
            cause = rest == .stopped ? "stopped" : "not started"
        case .connecting(let dialCause):
            state = .connecting
            cause = dialCause.rawValue
        case .connected(let dialCause):
            state = .connected
            cause = dialCause.rawValue
        case .reconnecting(let ending, let dialAt, _):
            state = .reconnecting
            cause = ending.reason
            isRefused = ending.cause == .authOrPolicy
            nextDialAt = dialAt
        }
    }
}
