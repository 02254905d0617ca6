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
    /// The header fields of every request, of which the first gets the key.
    private let fields: [(name: String, value: String)]
    private let http: HTTPClient
    private let clock: any RelayClock
    private let reason: WebhookReason
    /// Why nothing can be sent at all: the secret that was read is no URL, or one that needs `"insecure": true`.
    private let fault: String?

    /// Creates the sink.
    ///
    /// `url` and `headers` are those of the configuration with their values, `clock` says what time it is when an
    /// answer asks to wait until a date, and `userAgent` is `chirp-relay/VERSION`.
    package init(
        name: String, configuration: WebhookConfiguration, url: Secret, headers: [(String, Secret)], http: HTTPClient,
        clock: any RelayClock, userAgent: String
    ) {
        self.name = name
        self.configuration = configuration
        self.url = url
        fields = Self.fields(headers, userAgent: userAgent)
        self.http = http
        self.clock = clock
        inFlight = configuration.isOrdered ? 1 : configuration.inFlight
        reason = WebhookReason(url: url, headers: headers.map(\.1))
        fault = configuration.fault(inURL: url)
    }

    package func deliver(_ delivery: Delivery) async -> Outcome {
        if let fault { return .stopped(because: fault) }
        switch await http.send(request(delivery)) {
        case .success(let response): return outcome(response)
        case .failure(let failure) where failure.kind == .invalid: return .stopped(because: failure.sentence)
        case .failure(let failure):
            return .retry(
                after: nil, because: reason.shown(Array(failure.sentence.utf8)),
                trouble: failure.kind == .timeout ? .failed : .away)
        }
    }

    package func close() async {}

    private static func fields(_ headers: [(String, Secret)], userAgent: String) -> [(name: String, value: String)] {
        var fields = [(name: keyField, value: "")]
        for (name, value) in [("Content-Type", "application/json"), ("User-Agent", userAgent)]
        where !headers.contains(where: { $0.0.lowercased() == name.lowercased() }) {
            fields.append((name, value))
        }
        return fields + headers.map { (name: $0.0, value: $0.1.reveal()) }
    }

    private func request(_ delivery: Delivery) -> HTTPRequest {
        var fields = fields
        fields[0] = (name: Self.keyField, value: delivery.key)
        return HTTPRequest(
            configuration.method, url: url.reveal(), headers: fields,
            body: WebhookBody.bytes(of: delivery, configuration.body), timeout: configuration.timeout,
            proxy: configuration.proxy, tls: configuration.tls)
    }

    private static let keyField = "webhook-id"

    /// Judges an answer by its status alone.
    private func outcome(_ response: HTTPResponse) -> Outcome {
        switch response.status {
        case 200..<300: .delivered
        case 408, 500..<600: retry(response, .failed)
        case 425: retry(response, .away)
        case 429: retry(response, .overrun)
        case 401, 410: .stopped(because: reason.sentence(response))
        case 300..<400: .rejected(because: reason.redirectSentence(response))
        default: .rejected(because: reason.sentence(response))
        }
    }

    private func retry(_ response: HTTPResponse, _ trouble: Outcome.Trouble) -> Outcome {
        .retry(after: wait(response), because: reason.sentence(response), trouble: trouble)
    }

    /// How long the answer asks to wait.
    ///
    /// A date is compared with the answer's own, since the server's clock may differ from ours.
    private func wait(_ response: HTTPResponse) -> Duration? {
        guard let hint = response.header("retry-after") else { return nil }
        let wallNow = clock.wallNow()
        let serverNow = response.header("date").flatMap { RetryAfter.date($0, at: wallNow) }
        return RetryAfter.parse(hint, at: serverNow ?? wallNow)
    }
}
