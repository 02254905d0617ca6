internal import GLibRuntime
internal import RelayCore

/// The header fields that a stream's server is to get, with the token, read anew for every request.
@MainLoop
struct StreamHeaders {
    /// The fields with what in them must not be shown.
    struct Fields {
        /// The fields, that of the token first.
        var fields: [(name: String, value: String)] = []
        /// The token, and the values of secret headers.
        var secrets: [Secret] = []
    }

    /// Why there is no token.
    struct Failure: Error {
        /// In words, without the value.
        var reason: String
    }

    let configuration: StreamConfiguration
    let secrets: SecretReader

    /// Reads the token and the secret headers.
    func read() async throws(Failure) -> Fields {
        var result = Fields()
        if let source = configuration.token {
            let token = try await value(of: source, what: "the token")
            result.secrets.append(token)
            let scheme = configuration.scheme.isEmpty ? "" : configuration.scheme + " "
            result.fields.append((configuration.header, scheme + token.reveal()))
        }
        for header in configuration.headers {
            switch header.value {
            case .text(let text): result.fields.append((header.name, text))
            case .secret(let source):
                let secret = try await value(of: source, what: "the header \(header.name)")
                result.secrets.append(secret)
                result.fields.append((header.name, secret.reveal()))
            }
        }
        return result
    }

    private func value(of source: SecretSource, what: String) async throws(Failure) -> Secret {
        do throws(SecretFailure) {
            return try await secrets.read(source)
        } catch {
            throw Failure(reason: "\(what) cannot be read: \(error)")
        }
    }
}
