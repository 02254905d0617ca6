package import HTTPClient
package import RelayCore

/// Sends each notice to a URL as JSON.
///
/// Every attempt of a delivery has the same body and the header `webhook-id: KEY`, by which the receiver knows it
/// again. Only a 2xx answer to the request itself counts; no redirect is followed.
package struct WebhookSink: Sink {
    package let name: String
    package let inFlight: Int
    private let configuration: WebhookConfiguration
    private let url: Secret
    private let headers: [(name: String, value: Secret)]
    private let http: HTTPClient
    private let clock: any RelayClock
    private let userAgent: String
    private let reason: WebhookReason
    /// Why nothing can be sent at all: the secret that was read is no URL, or one that needs `"insecure": true`.
    private let fault: String?

    /// Creates the sink.
    ///
    /// - Parameters:
    ///   - url: The value of the configuration's `url`.
    ///   - headers: The configuration's headers with their values.
    ///   - clock: Says what time it is when an answer asks to wait until a date.
    ///   - userAgent: `chirp-relay/VERSION`.
    package init(
        name: String, configuration: WebhookConfiguration, url: Secret, headers: [(String, Secret)], http: HTTPClient,
        clock: any RelayClock, userAgent: String
    ) {
        self.name = name
        self.configuration = configuration
        self.url = url
        self.headers = headers.map { (name: $0.0, value: $0.1) }
        self.http = http
        self.clock = clock
        self.userAgent = userAgent
        inFlight = configuration.isOrdered ? 1 : configuration.inFlight
        reason = WebhookReason(url: url, headers: headers.map(\.1))
        fault = configuration.fault(inURL: url)
    }

    package func deliver(_ delivery: Delivery) async -> Outcome {
        if let fault { return .stopped(because: fault) }
        switch await http.send(request(delivery)) {
        case .success(let response): return outcome(response)
        case .failure(let failure) where failure.kind == .invalid: return .stopped(because: failure.sentence)
        case .failure(let failure): return .retry(after: nil, because: reason.shown(Array(failure.sentence.utf8)))
        }
    }

    package func close() async {}

    private func request(_ delivery: Delivery) -> HTTPRequest {
        var fields = [(name: "webhook-id", value: delivery.key)]
        let own = [("Content-Type", "application/json"), ("User-Agent", userAgent)]
        for (name, value) in own where !headers.contains(where: { $0.name.lowercased() == name.lowercased() }) {
            fields.append((name, value))
        }
        fields += headers.map { ($0.name, $0.value.reveal()) }
        return HTTPRequest(
            configuration.method, url: url.reveal(), headers: fields,
            body: WebhookBody.bytes(of: delivery, configuration.body), timeout: configuration.timeout,
            proxy: configuration.proxy, tls: configuration.tls)
    }

    /// Judges an answer by its status alone.
    private func outcome(_ response: HTTPResponse) -> Outcome {
        switch response.status {
        case 200..<300: .delivered
        case 408, 425, 429, 500..<600: .retry(after: wait(response), because: reason.sentence(response))
        case 401, 410: .stopped(because: reason.sentence(response))
        case 300..<400: .rejected(because: reason.redirectSentence(response))
        default: .rejected(because: reason.sentence(response))
        }
    }

    /// How long the answer asks to wait. A date is compared with the answer's own, since the server's clock may
    /// differ from ours.
    private func wait(_ response: HTTPResponse) -> Duration? {
        guard let hint = response.header("retry-after") else { return nil }
        let wallNow = clock.wallNow()
        let serverNow = response.header("date").flatMap { RetryAfter.date($0, at: wallNow) }
        return RetryAfter.parse(hint, at: serverNow ?? wallNow)
    }
}
