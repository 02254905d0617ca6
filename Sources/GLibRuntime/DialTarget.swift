/// Where to connect, and how.
package struct DialTarget: Sendable, Equatable {
    /// A name or an address; IPv6 without brackets.
    package var host: String
    package var port: UInt16
    /// TLS over the connection; `nil` for none.
    package var tls: TLSOptions?
    /// The proxy to go through; `nil` for a direct connection, whatever the environment says.
    package var proxy: ProxyOptions?

    /// Creates a target.
    package init(host: String, port: UInt16, tls: TLSOptions? = nil, proxy: ProxyOptions? = nil) {
        self.host = host
        self.port = port
        self.tls = tls
        self.proxy = proxy
    }
}

/// How to speak TLS.
///
/// The peer's certificate is always verified.
package struct TLSOptions: Sendable, Equatable {
    /// The name the certificate must be for.
    package var serverName: String
    /// A PEM file of the authorities to trust instead of the system's.
    package var caFile: String?
    /// A PEM file with our own certificate, for servers that ask for one.
    package var certificateFile: String?
    /// A PEM file with its key; `nil` if `certificateFile` holds the key too.
    package var keyFile: String?

    /// Creates the options.
    package init(
        serverName: String, caFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil
    ) {
        self.serverName = serverName
        self.caFile = caFile
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }
}

/// An HTTP proxy that tunnels by `CONNECT` (RFC 9110, section 9.3.6).
///
/// Prints without its credentials.
package struct ProxyOptions: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// A name or an address; IPv6 without brackets.
    package var host: String
    package var port: UInt16
    package var user: String?
    package var password: String?

    /// Creates the options.
    package init(host: String, port: UInt16, user: String? = nil, password: String? = nil) {
        self.host = host
        self.port = port
        self.user = user
        self.password = password
    }

    package var description: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    package var customMirror: Mirror { Mirror(self, children: ["address": description]) }
}
