/// How far a dial got.
package enum DialPhase: Int, Sendable, Comparable, CustomStringConvertible {
    case resolving, connecting, proxy, tls

    package static func < (left: DialPhase, right: DialPhase) -> Bool { left.rawValue < right.rawValue }

    package var description: String {
        switch self {
        case .resolving: "resolving the name"
        case .connecting: "connecting"
        case .proxy: "asking the proxy"
        case .tls: "TLS handshake"
        }
    }
}

/// Why a dial failed, and in which phase.
package struct DialError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong.
    package enum Cause: Sendable, Equatable {
        /// The deadline passed.
        case timedOut
        /// The peer's certificate was refused, for these reasons.
        case certificate([String])
        /// A certificate, key or authority file could not be used.
        case unusableFile(String, GLibError)
        /// What the system or the peer said.
        case failed(GLibError)
    }

    package var host: String
    package var port: UInt16
    package var phase: DialPhase
    package var cause: Cause

    /// Creates an error of a dial to `host` and `port`.
    package init(host: String, port: UInt16, phase: DialPhase, cause: Cause) {
        self.host = host
        self.port = port
        self.phase = phase
        self.cause = cause
    }

    package var description: String {
        let place = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        return switch cause {
        case .timedOut: "\(place): \(phase) took too long"
        case .certificate(let reasons): "\(place): certificate refused: \(reasons.joined(separator: ", "))"
        case .unusableFile(let path, let error): "\(place): cannot use \(path): \(error.message)"
        case .failed(let error): "\(place): \(phase) failed: \(error.message)"
        }
    }
}
