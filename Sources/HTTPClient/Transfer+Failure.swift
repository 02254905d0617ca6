internal import CCurl
internal import Glibc

extension Transfer {
    /// The host that the request was for, and all of its URL that may be shown.
    var origin: String {
        switch HTTPAddress.parse(request?.url ?? "") {
        case .success(let address): address.authority
        case .failure: "an unknown host"
        }
    }

    /// Tells what went wrong from libcurl's `code`; its own `errorText` is used where it tells of TLS alone.
    func failure(_ code: CURLcode, errorText: String) -> HTTPFailure {
        switch code {
        case CURLE_URL_MALFORMAT: HTTPFailure(.invalid, "the URL of \(origin) has a host name that is not allowed")
        case CURLE_COULDNT_RESOLVE_HOST: HTTPFailure(.resolve, "the name of \(origin) could not be resolved")
        case CURLE_COULDNT_RESOLVE_PROXY:
            HTTPFailure(.proxy, "the name of the proxy for \(origin) could not be resolved")
        case CURLE_COULDNT_CONNECT: HTTPFailure(.connect, "could not connect to \(origin)\(systemReason)")
        case CURLE_PROXY: HTTPFailure(.proxy, "the proxy for \(origin) made no connection")
        case CURLE_OPERATION_TIMEDOUT: HTTPFailure(.timeout, timeoutSentence)
        case CURLE_GOT_NOTHING: HTTPFailure(.broken, "\(origin) closed the connection without an answer")
        case CURLE_PARTIAL_FILE: HTTPFailure(.broken, "\(origin) closed the connection in the middle of its answer")
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR:
            // An alert may come after the handshake, such as that of a server which misses a client's certificate.
            errorText.contains("SSL routines")
                ? HTTPFailure(.tls, "\(origin) ended the TLS connection: \(Self.shown(errorText, code))")
                : brokenFailure
        case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_BAD_CONTENT_ENCODING,
            CURLE_UNSUPPORTED_PROTOCOL:
            HTTPFailure(.malformed, "the answer of \(origin) is not HTTP")
        case _ where Self.tlsFileCodes.contains(code.rawValue):
            HTTPFailure(.invalid, "TLS for \(origin) cannot be set up: \(Self.shown(errorText, code))")
        case _ where Self.tlsCodes.contains(code.rawValue):
            HTTPFailure(.tls, "no trusted TLS connection to \(origin): \(Self.shown(errorText, code))")
        default:
            HTTPFailure(.broken, "the request to \(origin) failed: \(String(cString: relay_curl_easy_strerror(code)))")
        }
    }

    private static let tlsCodes = Set(
        [
            CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_USE_SSL_FAILED, CURLE_SSL_CIPHER,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_CLIENTCERT, CURLE_SSL_SHUTDOWN_FAILED,
        ].map(\.rawValue))

    private static let tlsFileCodes = Set(
        [
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CERTPROBLEM, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE,
        ].map(\.rawValue))

    private var systemReason: String {
        var number = 0
        guard relay_curl_get_long(easy, CURLINFO_OS_ERRNO, &number) == CURLE_OK, number > 0,
            let text = strerror(Int32(truncatingIfNeeded: number))
        else { return "" }
        return ": \(String(cString: text))"
    }

    private var brokenFailure: HTTPFailure {
        var status = 0
        _ = relay_curl_get_long(easy, CURLINFO_HTTP_CONNECTCODE, &status)
        guard status == 0 || status / 100 == 2 else {
            return HTTPFailure(.proxy, "the proxy for \(origin) refused the connection with status \(status)")
        }
        return HTTPFailure(.broken, "the connection to \(origin) broke\(systemReason)")
    }

    /// Says in which phase the time ran out: libcurl keeps 0 for what was not reached.
    private var timeoutSentence: String {
        func isReached(_ info: CURLINFO) -> Bool {
            var microseconds: curl_off_t = 0
            return relay_curl_get_time(easy, info, &microseconds) == CURLE_OK && microseconds > 0
        }
        let limit = Self.shown(request?.timeout ?? .zero)
        if isReached(CURLINFO_PRETRANSFER_TIME_T) { return "\(origin) did not answer within \(limit)" }
        if isReached(CURLINFO_NAMELOOKUP_TIME_T) { return "no connection to \(origin) within \(limit)" }
        return "the name of \(origin) was not resolved within \(limit)"
    }

    private static func shown(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return attoseconds == 0 ? "\(seconds)s" : "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms"
    }

    /// What the TLS library says, of which the other side may have written a part: printable ASCII, and not long.
    private static func shown(_ errorText: String, _ code: CURLcode) -> String {
        let text = errorText.isEmpty ? String(cString: relay_curl_easy_strerror(code)) : errorText
        let printable = text.utf8.prefix(200).map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") }
        return String(decoding: printable, as: UTF8.self)
    }
}
