/// Why an HTTP exchange did not become a WebSocket connection.
package enum HandshakeFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// An HTTP answer other than 101.
    case refused(Refusal)
    /// A 101, or a request for an upgrade, that breaks RFC 6455, section 4, as the sentence says.
    case notWebSocket(String)
    /// No HTTP head at all, or one over a limit.
    case malformed(String)

    /// What a server said in place of 101.
    ///
    /// All text is cleaned and cut, and what we sent as secret is blotted out.
    package struct Refusal: Sendable, Equatable {
        /// The status.
        package var status: Int
        /// The words behind the status.
        package var reason: String
        /// Where a redirect, which is never followed, points: scheme, host and port only.
        package var location: String?
        /// The value of `Retry-After` as sent: seconds or a date.
        package var retryAfter: String?
        /// The beginning of the body, at most 200 bytes.
        package var body: String

        /// Creates a refusal from text that is clean.
        package init(
            status: Int, reason: String = "", location: String? = nil, retryAfter: String? = nil, body: String = ""
        ) {
            self.status = status
            self.reason = reason
            self.location = location
            self.retryAfter = retryAfter
            self.body = body
        }
    }

    package var description: String {
        switch self {
        case .refused(let refusal):
            var text = "the server answered \(refusal.status)"
            if !refusal.reason.isEmpty { text += " \(refusal.reason)" }
            if let location = refusal.location { text += ", a redirect to \(location), which is not followed" }
            if let retryAfter = refusal.retryAfter { text += ", asking to retry after \(retryAfter)" }
            return refusal.body.isEmpty ? text : text + ": \(refusal.body)"
        case .notWebSocket(let why): return "no WebSocket connection: \(why)"
        case .malformed(let why): return "no HTTP: \(why)"
        }
    }
}
