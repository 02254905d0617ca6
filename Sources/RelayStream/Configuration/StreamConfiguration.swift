package import RelayCore
package import WebSocketCodec

/// One entry of `streams` in the rules file: where to connect, and how.
package struct StreamConfiguration: Sendable, Equatable {
    /// A value of an extra header.
    package enum HeaderValue: Sendable, Equatable {
        /// Written in the file.
        case text(String)
        /// Read anew for every dial.
        case secret(SecretSource)
    }

    /// An extra header of the handshake.
    package struct Header: Sendable, Equatable {
        /// The name.
        package var name: String
        /// The value.
        package var value: HeaderValue
    }

    /// Files for TLS, relative to the folder of the rules file.
    package struct TLSFiles: Sendable, Equatable {
        /// Certificates of the authorities to trust instead of the system's.
        package var authorities: String?
        /// Our certificate.
        package var certificate: String?
        /// Its key; if absent, the key is in the file of the certificate.
        package var key: String?

        /// Creates the set.
        package init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
            self.authorities = authorities
            self.certificate = certificate
            self.key = key
        }
    }

    /// The name of the stream.
    package var name: String
    /// Where it connects.
    package var url: WebSocketURL
    /// Where the token comes from; nil for a server without authentication.
    package var token: SecretSource?
    /// The header that carries the token.
    package var header = "Authorization"
    /// The word before the token; empty for the bare token.
    package var scheme = "Bearer"
    /// Extra headers.
    package var headers: [Header] = []
    /// The subprotocol that is asked for and must be agreed to.
    package var subprotocol: String?
    /// The silence after which a ping is sent.
    package var ping = Duration.seconds(30)
    /// The silence after a ping after which the connection is dead.
    package var pongTimeout = Duration.seconds(10)
    /// The time a dial has in all, from the look-up of the name to the HTTP answer.
    package var dialTimeout = Duration.seconds(15)
    /// The redial policy, without a history.
    package var redial = RedialPolicy()
    /// Close codes that mean a refusal, beside 1008.
    package var authCloseCodes: Set<UInt16> = []
    /// The most bytes of a message; one that is longer closes the connection with 1009.
    package var maxMessage = 1 << 20
    /// A proxy as `http://host:port`, `direct`, or nil for the choice of the environment.
    package var proxy: String?
    /// Files for TLS.
    package var tls = TLSFiles()
    /// How what was missed is fetched; nil if it cannot be.
    package var catchUp: CatchUpConfiguration?

    /// Creates a configuration with the standard values.
    package init(name: String, url: WebSocketURL, token: SecretSource? = nil) {
        self.name = name
        self.url = url
        self.token = token
    }
}
