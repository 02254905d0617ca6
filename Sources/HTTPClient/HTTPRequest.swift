/// One HTTP request.
///
/// Its URL, its headers and its body may be secrets: what was put in cannot be read outside this module, and the
/// request prints as its method only.
package struct HTTPRequest: Sendable {
    /// What is asked of the resource.
    package enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// How to get to the host.
    package enum Proxy: Sendable, Hashable {
        /// As `https_proxy`, `HTTPS_PROXY`, `all_proxy`, `ALL_PROXY` and `no_proxy` say; for http only the lower-case
        /// `http_proxy` counts, since a CGI program's `HTTP_PROXY` is a header that a client sent.
        case environment
        /// Straight, whatever the environment says.
        case none
        /// Through the proxy at this URL.
        case url(String)
    }

    /// Whom to trust and who to be. A certificate authority of one's own replaces the system's.
    package struct TLS: Sendable, Hashable {
        /// A PEM file of the certificate authorities to trust.
        package var authorityFile: String?
        /// A PEM file of the client's certificate.
        package var certificateFile: String?
        /// A PEM file of the certificate's key, if it is not in the same file.
        package var keyFile: String?

        /// Creates options; those that are nil are the system's.
        package init(authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil) {
            self.authorityFile = authorityFile
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// What is asked of the resource.
    package var method: Method
    let url: String
    let headers: [(name: String, value: String)]
    let body: [UInt8]
    /// How long everything may take, from the name look-up to the last byte of the answer.
    package var timeout: Duration
    /// How to get to the host.
    package var proxy: Proxy
    /// Whom to trust and who to be.
    package var tls: TLS
    /// How much of the answer's body is read; the rest is cancelled, and the connection with it.
    package var maxResponseBytes: Int

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - url: An http or https URL. It may be a secret.
    ///   - headers: Fields to send, in order. Their values may be secrets.
    package init(
        _ method: Method, url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        timeout: Duration = .seconds(15), proxy: Proxy = .environment, tls: TLS = TLS(),
        maxResponseBytes: Int = 64 * 1024
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.proxy = proxy
        self.tls = tls
        self.maxResponseBytes = maxResponseBytes
    }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "\(method.rawValue) <redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
