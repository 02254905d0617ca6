package import RelayCore

/// A URL or the value of a header, as the rules file gives it: written there, or the place of a secret.
package enum WebhookText: Sendable, Hashable {
    /// Written in the file.
    case written(Secret)
    /// To be read from its place before the sink is made.
    case secret(SecretSource)

    /// The place to read, if there is one.
    package var source: SecretSource? {
        if case .secret(let source) = self { return source }
        return nil
    }

    /// Returns the text; calls `read` if it is kept elsewhere.
    package func resolved<Failure: Error>(
        _ read: (SecretSource) throws(Failure) -> Secret
    ) throws(Failure) -> Secret {
        switch self {
        case .written(let text): text
        case .secret(let source): try read(source)
        }
    }
}
