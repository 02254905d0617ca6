/// Why a request got no answer.
package struct HTTPFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong, for code.
    package enum Kind: String, Sendable, CaseIterable {
        /// The request cannot be sent as it is: its URL, a header, or a file of its TLS options.
        case invalid
        /// The host's name has no address.
        case resolve
        /// No connection to the host.
        case connect
        /// The proxy was not reached, or refused.
        case proxy
        /// No trusted connection.
        case tls
        /// It took longer than the request allows.
        case timeout
        /// The connection was lost before the answer was whole.
        case broken
        /// What came is not HTTP.
        case malformed
        /// The header of the answer is larger than is taken.
        case tooLarge
        /// The task was cancelled, or the client closed.
        case cancelled
    }

    /// What went wrong, for code.
    package let kind: Kind
    /// What went wrong, in a sentence without a full stop. Of the request it names at most the host.
    package let sentence: String

    init(_ kind: Kind, _ sentence: String) {
        self.kind = kind
        self.sentence = sentence
    }

    package var description: String { sentence }
}
