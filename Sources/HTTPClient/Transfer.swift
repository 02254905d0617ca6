internal import CCurl

/// One request on its way, over a libcurl easy handle that is used again for later ones.
///
/// Not `Sendable`: it belongs to the `HTTPClient` that runs it and is used on the main loop only, its callbacks
/// included, which libcurl makes while the client calls it.
final class Transfer {
    /// The `CURL *`.
    let easy: UnsafeMutableRawPointer
    /// The client's number for the request, new for each.
    var number: UInt64 = 0
    /// Who waits for the result.
    var continuation: CheckedContinuation<Result<HTTPResponse, HTTPFailure>, Never>?

    private(set) var request: HTTPRequest?
    /// The last URL that was found to be one: the next request is mostly for the same, and its sender keeps it too.
    private var checkedURL = ""
    private let errorText: UnsafeMutablePointer<CChar>
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var headerBytes: [UInt8] = []
    private var headerByteCount = 0
    private var headerIsTooLarge = false
    private var body: [UInt8] = []
    private var bodyHasBegun = false
    private var bodyIsTruncated = false

    /// Creates a transfer without a request, or returns nil if there is no memory.
    ///
    /// The C function is curl_easy_init.
    init?() {
        guard let easy = relay_curl_easy_init() else { return nil }
        self.easy = easy
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        relay_curl_easy_cleanup(easy)
        relay_curl_slist_free_all(fields)
        errorText.deallocate()
    }

    /// Makes the handle ready to send `request`; returns what is wrong with it otherwise.
    func prepare(_ request: HTTPRequest) -> HTTPFailure? {
        // libcurl alone would guess at what is missing in a URL.
        if request.url != checkedURL {
            if case .failure(let fault) = HTTPAddress.parse(request.url) {
                return HTTPFailure(.invalid, "the URL \(fault.message)")
            }
            checkedURL = request.url
        }
        self.request = request
        errorText.pointee = 0
        if let fault = setFields(of: request) { return fault }
        setCallbacks()
        setResource(of: request)
        setRoute(of: request)
        return nil
    }

    /// Forgets the request and what came, so that no header, which may be a secret, and no large body is kept.
    func clear() {
        relay_curl_easy_reset(easy)
        relay_curl_slist_free_all(fields)
        fields = nil
        request = nil
        continuation = nil
        headerBytes = []
        headerByteCount = 0
        headerIsTooLarge = false
        body = []
        bodyHasBegun = false
        bodyIsTruncated = false
    }

    /// What libcurl's verdict `code` means, with what came.
    func result(_ code: CURLcode) -> Result<HTTPResponse, HTTPFailure> {
        // Our own callbacks ended it: the body was cut, or the header was too much.
        guard code == CURLE_OK || (code == CURLE_WRITE_ERROR && bodyIsTruncated) else {
            return .failure(
                headerIsTooLarge
                    ? HTTPFailure(.tooLarge, "the header of the answer of \(origin) is too large")
                    : failure(code, errorText: String(cString: errorText)))
        }
        var status = 0
        _ = relay_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
        return .success(
            HTTPResponse(status: status, headerBytes: headerBytes, body: body, isTruncated: bodyIsTruncated))
    }

    // MARK: What comes

    private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bodyHasBegun = true
        let room = max(0, (request?.maxResponseBytes ?? 0) - body.count)
        body.append(contentsOf: bytes.prefix(room))
        bodyIsTruncated = bytes.count > room
        return !bodyIsTruncated
    }

    private func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        headerByteCount += line.count
        headerIsTooLarge = headerByteCount > HTTPResponse.maxHeaderBytes
        if line.starts(with: "HTTP/".utf8) {
            // Of several answers (100, 103) the last one counts.
            headerBytes.removeAll(keepingCapacity: true)
        } else if !bodyHasBegun {
            headerBytes.append(contentsOf: line)
        }
        return !headerIsTooLarge
    }

    // MARK: What is sent

    private func setCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        // The pointers stay true: the client keeps the transfer until its handle is out of the multi handle.
        _ = relay_curl_set_pointer(easy, CURLOPT_PRIVATE, context)
        _ = relay_curl_set_pointer(easy, CURLOPT_WRITEDATA, context)
        _ = relay_curl_set_pointer(easy, CURLOPT_HEADERDATA, context)
        _ = relay_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        // Size is always 1, says the manual of both options.
        _ = relay_curl_set_data_callback(easy, CURLOPT_WRITEFUNCTION) { bytes, _, count, context in
            guard let context else { return 0 }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.takeBody(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
        }
        _ = relay_curl_set_data_callback(easy, CURLOPT_HEADERFUNCTION) { bytes, _, count, context in
            guard let context else { return 0 }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.takeHeader(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
        }
    }

    /// Makes the list of header fields; nothing is sent that libcurl would add for forms and large bodies.
    private func setFields(of request: HTTPRequest) -> HTTPFailure? {
        var removed = ["Accept", "Expect", "Content-Type"]
        for (name, value) in request.headers {
            guard HTTPField.isName(name), HTTPField.isValue(value) else {
                let shown = HTTPField.isName(name) ? " \"\(name)\"" : ""
                return HTTPFailure(.invalid, "a header\(shown) for \(origin) has characters that cannot be sent")
            }
            append(value.isEmpty ? "\(name);" : "\(name): \(value)")
            removed.removeAll { $0.lowercased() == name.lowercased() }
        }
        for name in removed { append("\(name):") }
        _ = relay_curl_set_list(easy, CURLOPT_HTTPHEADER, fields)
        return nil
    }

    private func append(_ field: String) {
        // On failure (no memory) the list stays as it was.
        if let longer = relay_curl_slist_append(fields, field) { fields = longer }
    }

    private func setResource(of request: HTTPRequest) {
        _ = relay_curl_set_text(easy, CURLOPT_URL, request.url)
        switch request.method {
        case .get where request.body.isEmpty: break
        case .head: _ = relay_curl_set_long(easy, CURLOPT_NOBODY, 1)
        default:
            if request.body.isEmpty, request.method == .delete {
                _ = relay_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
                break
            }
            _ = relay_curl_set_long(easy, CURLOPT_POST, 1)
            request.body.withUnsafeBytes { body in
                // With a count of 0 nothing is read; nil would mean a body read from standard input.
                _ = relay_curl_copy_body(easy, body.baseAddress ?? UnsafeRawPointer(errorText), curl_off_t(body.count))
            }
            if request.method != .post {
                _ = relay_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
            }
        }
    }

    /// Sets how to get there.
    ///
    /// No redirect is followed, no cookie kept, no netrc read and no coding of a body undone, all of which libcurl
    /// does only when told.
    private func setRoute(of request: HTTPRequest) {
        _ = relay_curl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        _ = relay_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // Or the end of a name look-up that takes too long would be waited for, on the loop.
        _ = relay_curl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        _ = relay_curl_set_long(easy, CURLOPT_TIMEOUT_MS, Self.milliseconds(request.timeout))
        _ = relay_curl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        switch request.proxy {
        case .environment: break
        case .none: _ = relay_curl_set_text(easy, CURLOPT_PROXY, "")
        case .url(let url):
            _ = relay_curl_set_text(easy, CURLOPT_PROXY, url)
            // Else `no_proxy` of the environment would undo what was asked for.
            _ = relay_curl_set_text(easy, CURLOPT_NOPROXY, "")
        }
        _ = relay_curl_set_long(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        if let file = request.tls.authorityFile {
            _ = relay_curl_set_text(easy, CURLOPT_CAINFO, file)
        }
        if request.tls.authorityFile != nil || Self.hasAuthorityBundle {
            // Without a folder of certificates libcurl parses the file once, not for every connection (10 ms).
            _ = relay_curl_set_text(easy, CURLOPT_CAPATH, nil)
        }
        if let file = request.tls.certificateFile {
            _ = relay_curl_set_text(easy, CURLOPT_SSLCERT, file)
            _ = relay_curl_set_text(easy, CURLOPT_SSLKEY, request.tls.keyFile ?? file)
        }
    }

    /// Whether libcurl was built with a file of the system's certificate authorities.
    private static let hasAuthorityBundle: Bool = {
        guard let easy = relay_curl_easy_init() else { return false }
        defer { relay_curl_easy_cleanup(easy) }
        var path: UnsafeMutablePointer<CChar>?
        return relay_curl_get_text(easy, CURLINFO_CAINFO, &path) == CURLE_OK && path != nil
    }()

    /// At least 1, since 0 would be no limit, and at most what libcurl takes.
    private static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        guard seconds < 2_000_000 else { return 2_000_000_000 }
        return max(1, Int(max(seconds, 0)) * 1000 + Int(max(attoseconds, 0) / 1_000_000_000_000_000))
    }
}
