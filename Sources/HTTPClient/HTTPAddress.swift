internal import CCurl
internal import Glibc

/// The origin of an http or https URL: all of it that may be shown.
package struct HTTPAddress: Sendable, Hashable {
    /// `http` or `https`.
    package let scheme: String
    /// The host as it is connected to; an IPv6 address in its brackets.
    ///
    /// Never with user info.
    package let host: String
    /// The port, given or standard.
    package let port: Int
    /// Whether the URL carries a user name or a password.
    package let hasUserInfo: Bool

    /// Why a text is no URL to send to.
    ///
    /// It never repeats the text, which may be a secret.
    package struct Fault: Error, Hashable {
        /// What is wrong and what to do, without a full stop.
        package var message: String
    }

    /// How long a URL may be: what servers commonly take for a request line.
    package static let maxBytes = 8192

    /// Whether what is sent stays on this machine: `localhost`, below `.localhost`, 127.0.0.0/8 or ::1.
    package var isLoopback: Bool {
        let name = host.lowercased()
        if name == "localhost" || name.hasSuffix(".localhost") || name == "[::1]" { return true }
        var address = in_addr()
        return inet_pton(AF_INET, host, &address) == 1 && UInt32(bigEndian: address.s_addr) >> 24 == 127
    }

    /// Host and, if it is not the scheme's standard, port.
    package var authority: String {
        port == Self.standardPort(scheme) ? host : "\(host):\(port)"
    }

    /// Parses `text`, strictly: what a request line could not carry is a fault.
    ///
    /// The C function is curl_url_set.
    ///
    /// A host name beyond ASCII is accepted; libcurl converts it when it connects.
    package static func parse(_ text: String) -> Result<HTTPAddress, Fault> {
        if let fault = spellingFault(text) { return .failure(fault) }
        if let fault = CurlLibrary.fault { return .failure(Fault(message: "cannot be parsed: \(fault)")) }
        guard let handle = relay_curl_url() else { return .failure(Fault(message: "cannot be parsed: out of memory")) }
        defer { relay_curl_url_cleanup(handle) }
        let code = relay_curl_url_set(handle, CURLUPART_URL, text, 0)
        guard code == CURLUE_OK else { return .failure(Fault(message: sentence(code))) }
        guard let scheme = part(handle, CURLUPART_SCHEME), let host = part(handle, CURLUPART_HOST), !host.isEmpty else {
            return .failure(Fault(message: "has no host"))
        }
        let port = part(handle, CURLUPART_PORT).map { Int($0) } ?? standardPort(scheme)
        guard let port, (1...65535).contains(port) else {
            return .failure(Fault(message: "has a bad port; ports go from 1 to 65535"))
        }
        let hasUserInfo = part(handle, CURLUPART_USER) != nil || part(handle, CURLUPART_PASSWORD) != nil
        return .success(HTTPAddress(scheme: scheme, host: host, port: port, hasUserInfo: hasUserInfo))
    }

    /// Returns whether `other` has the same scheme, host and port (RFC 6454, section 4).
    package func hasSameOrigin(as other: HTTPAddress) -> Bool {
        scheme == other.scheme && port == other.port && host.lowercased() == other.host.lowercased()
    }

    /// Returns the URL that `reference` means where the URL `base` was asked for: RFC 3986, section 5.
    ///
    /// The C function is curl_url_set. The result may have another origin than `base`.
    package static func resolve(_ reference: String, against base: String) -> Result<String, Fault> {
        if reference.utf8.count > maxBytes { return .failure(Fault(message: "is longer than \(maxBytes) bytes")) }
        if case .failure(let fault) = parse(base) { return .failure(fault) }
        if let fault = charactersFault(reference) { return .failure(fault) }
        guard let handle = relay_curl_url() else { return .failure(Fault(message: "cannot be parsed: out of memory")) }
        defer { relay_curl_url_cleanup(handle) }
        for text in [base, reference] where !text.isEmpty {
            let code = relay_curl_url_set(handle, CURLUPART_URL, text, 0)
            guard code == CURLUE_OK else { return .failure(Fault(message: sentence(code))) }
        }
        guard let url = part(handle, CURLUPART_URL) else { return .failure(Fault(message: "is no URL")) }
        return parse(url).map { _ in url }
    }

    private static func standardPort(_ scheme: String) -> Int { scheme == "https" ? 443 : 80 }

    /// Finds what libcurl would let pass, or would send as it is.
    private static func spellingFault(_ text: String) -> Fault? {
        let bytes = text.utf8
        if bytes.isEmpty { return Fault(message: "is empty") }
        if bytes.count > maxBytes { return Fault(message: "is longer than \(maxBytes) bytes") }
        if let fault = charactersFault(text) { return fault }
        let scheme = bytes.prefix(8).map { $0 | 0x20 }
        guard scheme.starts(with: "https://".utf8) || scheme.starts(with: "http://".utf8) else {
            return Fault(
                message: text.contains("://")
                    ? "has another scheme than http and https" : "has no scheme; begin it with \"https://\"")
        }
        let afterScheme = bytes.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
        // libcurl would take the first word of the path for the host.
        if afterScheme.first == UInt8(ascii: "/") { return Fault(message: "has no host") }
        let resource = afterScheme.drop { !"/?#".utf8.contains($0) }
        if resource.contains(where: { $0 >= 0x80 }) {
            return Fault(message: "has characters beyond ASCII after the host; percent-encode them")
        }
        return nil
    }

    private static func charactersFault(_ text: String) -> Fault? {
        if text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
            return Fault(message: "has a space or a control character; in a path it is written as %20 and the like")
        }
        if text.utf8.contains(UInt8(ascii: "\\")) { return Fault(message: "has a backslash; write \"/\" or %5C") }
        return nil
    }

    private static func part(_ handle: OpaquePointer, _ part: CURLUPart) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard relay_curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { relay_curl_free(text) }
        return String(cString: text)
    }

    private static func sentence(_ code: CURLUcode) -> String {
        switch code {
        case CURLUE_BAD_PORT_NUMBER: "has a bad port; ports go from 1 to 65535"
        case CURLUE_NO_HOST: "has no host"
        case CURLUE_BAD_HOSTNAME: "has a bad host name"
        case CURLUE_BAD_IPV6: "has a bad IPv6 address; write it in brackets"
        case CURLUE_BAD_LOGIN, CURLUE_BAD_USER, CURLUE_BAD_PASSWORD: "has bad user info before the \"@\""
        case CURLUE_BAD_SLASHES: "has the wrong number of slashes after the scheme"
        default: "is no URL (\(String(cString: relay_curl_url_strerror(code))))"
        }
    }
}
