package import RelayCore

/// Says how long to wait before the next dial: a total function of the history, the cause and the server's hint.
///
/// Three causes only. *Network*: `uniform(½,1) × min(cap, base × 2ⁿ)`, where `n` goes back to 0 only after a
/// connection has held. *Auth or policy*: one prompt retry, then one dial in about five minutes. *The server asks
/// to wait*: its time, which lengthens the delay and never shortens it. It never gives up.
package struct RedialPolicy: Sendable, Equatable {
    /// The delays after failures by the network.
    package let backoff: Backoff
    /// How long a connection must last for the failures before it to be forgotten.
    package let held: Duration
    /// The failures in a row since a connection last held.
    package private(set) var failures = 0
    /// The refusals in a row since a connection last held or the token changed.
    package private(set) var refusals = 0

    /// The delay between dials that are expected to be refused; with the two prompt ones at most 14 in an hour.
    package static let refusedDelay = Duration.seconds(300)
    /// The longest time that a server can ask for.
    package static let longestHint = Duration.seconds(3600)

    /// Creates a policy without a history.
    package init(
        base: Duration = .seconds(1), cap: Duration = .seconds(30), held: Duration = .seconds(30)
    ) {
        backoff = Backoff(base: base, cap: cap, floor: 0.5)
        self.held = held
    }

    /// Whether the slow rate of refused dials applies to the next one.
    package var isRefused: Bool { refusals > 1 }

    /// Takes note that a connection lasted for `lifetime`, and forgets what was before it if it has held.
    package mutating func connectionLasted(_ lifetime: Duration) {
        guard lifetime >= held else { return }
        failures = 0
        refusals = 0
    }

    /// Takes note of a new token, which deserves a prompt retry of its own.
    package mutating func tokenChanged() {
        refusals = 0
    }

    /// Returns the delay before the next dial and counts the failure.
    package mutating func delay(
        after cause: Ending.Cause, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let usual = backoff.delay(afterFailures: failures, using: &generator)
        switch cause {
        case .network:
            count(&failures)
            return usual
        case .serverAsksToWait(let hint):
            count(&failures)
            let asked = min(max(hint, .zero), Self.longestHint)
            // Spread over a tenth of the time asked for, or the clients that were told the same come back as one.
            let spread = min(backoff.cap, max(backoff.base, asked / 10))
            return max(usual, asked + spread * Double.random(in: 0..<1, using: &generator))
        case .authOrPolicy:
            count(&refusals)
            guard isRefused else { return backoff.delay(afterFailures: 0, using: &generator) }
            // At most the full time and not under 19 in 20 of it, which keeps an hour under 15 dials.
            return max(Self.refusedDelay, backoff.cap) * Double.random(in: 0.95...1, using: &generator)
        }
    }

    /// Counts up without overflow: a stream may fail for as long as it likes.
    private func count(_ number: inout Int) {
        if number < .max { number += 1 }
    }
}

extension RedialPolicy {
    /// Creates a policy with a history, such as one that took years.
    package init(failures: Int, refusals: Int) {
        self.init()
        self.failures = failures
        self.refusals = refusals
    }
}
