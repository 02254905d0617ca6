internal import CCurl

/// The library behind the client, which is loaded when it is first needed.
enum CurlLibrary {
    /// Loads libcurl and makes it ready, once in the process; nil, or why it cannot be had.
    static let fault: String? = relay_curl_load().map { String(cString: $0) }
}
