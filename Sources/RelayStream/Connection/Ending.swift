/// How a dial or a connection ended, other than by our own stop.
package struct Ending: Sendable, Equatable {
    /// What the redial policy goes by.
    ///
    /// Chosen by HTTP status or close code, never by text.
    package enum Cause: Sendable, Equatable {
        /// Anything that passes by itself: no network, a reset, a time-out, a protocol error, a restarting server.
        case network
        /// The server refuses the token or the address; only a change of configuration or token helps.
        case authOrPolicy
        /// The server named a time before which it wants no dial.
        case serverAsksToWait(Duration)
    }

    /// What the redial policy goes by.
    package var cause: Cause
    /// What happened, for logs and status.
    ///
    /// May hold text of the server, cleaned and cut, and never a secret.
    package var reason: String

    /// Creates an ending.
    package init(_ cause: Cause, _ reason: String) {
        self.cause = cause
        self.reason = reason
    }

    /// Returns the cause that an HTTP answer other than 101 gives.
    ///
    /// `retryAfter` counts only with 429 and 503 (RFC 9110, section 10.2.3).
    package static func cause(status: Int, retryAfter: Duration?) -> Cause {
        switch status {
        case 300...399, 401, 403, 404, 410: return .authOrPolicy
        case 429, 503: return retryAfter.map { .serverAsksToWait($0) } ?? .network
        default: return .network
        }
    }

    /// Returns the cause that the close code of the server gives (RFC 6455, section 7.4).
    package static func cause(closeCode: UInt16, authCloseCodes: Set<UInt16>) -> Cause {
        closeCode == 1008 || authCloseCodes.contains(closeCode) ? .authOrPolicy : .network
    }
}
