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
    /// What the handle is set up for: the next request is mostly of the same kind.
    private var setUp: SetUp?
    private let errorText: UnsafeMutablePointer<CChar>
    private var fields = FieldList()
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
        errorText.deallocate()
    }

    /// Returns whether the handle has all options of `request` but for header and body.
    func isSetUp(for request: HTTPRequest) -> Bool {
        guard let setUp else { return false }
        return setUp.url == request.url && setUp.method == request.method && setUp.hasBody == Self.hasBody(request)
            && setUp.timeout == request.timeout && setUp.proxy == request.proxy && setUp.tls == request.tls
    }

    /// Makes the handle ready to send `request`; returns what is wrong with it otherwise.
    ///
    /// Options that the last request had too stay as they are: to set them all takes longer than to send.
    func prepare(_ request: HTTPRequest) -> HTTPFailure? {
        self.request = request
        errorText.pointee = 0
        if !isSetUp(for: request), let failure = setUp(for: request) { return failure }
        if let failure = setFields(of: request) { return failure }
        if Self.hasBody(request) { setBody(request.body) }
        return nil
    }

    /// Forgets the request and what came.
    ///
    /// URL and header stay in the handle for the next request, which brings its own; a large body does not.
    func clear() {
        if let body = request?.body, body.count > Self.mostBytesKept {
            _ = relay_curl_set_text(easy, CURLOPT_COPYPOSTFIELDS, nil)
        }
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
        body.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes.prefix(room)))
        bodyIsTruncated = bytes.count > room
        return !bodyIsTruncated
    }

    private func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        headerByteCount += line.count
        headerIsTooLarge = headerByteCount > HTTPResponse.maxHeaderBytes
        if line.starts(with: Self.statusLineStart) {
            // Of several answers (100, 103) the last one counts.
            headerBytes.removeAll(keepingCapacity: true)
            headerBytes.reserveCapacity(Self.usualHeaderBytes)
        } else if !bodyHasBegun {
            headerBytes.append(contentsOf: line)
        }
        return !headerIsTooLarge
    }

    private static let statusLineStart = Array("HTTP/".utf8)
    /// Room for what most answers say, so that it need not grow line by line.
    private static let usualHeaderBytes = 256
    /// How much of a body that was sent may stay in the handle.
    private static let mostBytesKept = 4096

    // MARK: What is sent

    /// The options of a request that libcurl keeps from one to the next.
    private struct SetUp {
        var url: String
        var method: HTTPRequest.Method
        var hasBody: Bool
        var timeout: Duration
        var proxy: HTTPRequest.Proxy
        var tls: HTTPRequest.TLS
    }

    private static func hasBody(_ request: HTTPRequest) -> Bool {
        switch request.method {
        case .get, .delete: !request.body.isEmpty
        case .head: false
        case .post, .put, .patch: true
        }
    }

    private func setUp(for request: HTTPRequest) -> HTTPFailure? {
        // libcurl alone would guess at what is missing in a URL.
        if request.url != setUp?.url, case .failure(let fault) = HTTPAddress.parse(request.url) {
            return HTTPFailure(.invalid, "the URL \(fault.message)")
        }
        relay_curl_easy_reset(easy)
        setCallbacks()
        setResource(of: request)
        setRoute(of: request)
        setUp = SetUp(
            url: request.url, method: request.method, hasBody: Self.hasBody(request), timeout: request.timeout,
            proxy: request.proxy, tls: request.tls)
        return nil
    }

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

    private func setFields(of request: HTTPRequest) -> HTTPFailure? {
        defer { _ = relay_curl_set_list(easy, CURLOPT_HTTPHEADER, fields.first) }
        do throws(FieldList.Fault) {
            try fields.set(request.headers)
            return nil
        } catch {
            return switch error {
            case .name: HTTPFailure(.invalid, "a header for \(origin) has characters that cannot be sent")
            case .value(let name):
                HTTPFailure(.invalid, "a header \"\(name)\" for \(origin) has characters that cannot be sent")
            case .memory: HTTPFailure(.broken, "there is no memory for a request")
            }
        }
    }

    private func setResource(of request: HTTPRequest) {
        _ = relay_curl_set_text(easy, CURLOPT_URL, request.url)
        if request.method == .head { _ = relay_curl_set_long(easy, CURLOPT_NOBODY, 1) }
        if Self.hasBody(request) { _ = relay_curl_set_long(easy, CURLOPT_POST, 1) }
        let isImplied = Self.hasBody(request) ? request.method == .post : request.method != .delete
        if !isImplied { _ = relay_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
    }

    private func setBody(_ body: [UInt8]) {
        body.withUnsafeBytes { body in
            // With a count of 0 nothing is read; nil would mean a body read from standard input.
            _ = relay_curl_copy_body(easy, body.baseAddress ?? UnsafeRawPointer(errorText), curl_off_t(body.count))
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
