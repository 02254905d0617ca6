internal import GLibRuntime
internal import HTTPClient
internal import RelayCore

/// Fetches the pages of a catch-up: the token, the request, and what the answer means.
@MainLoop
final class PageFetch {
    /// What came of a request.
    enum Answer {
        /// A page.
        case page(CatchUpPage)
        /// None; the status is that of the answer, if it was one that carries no page.
        case failed(Ending, status: Int?)
        /// The task was cancelled.
        case stopped
    }

    private let configuration: StreamConfiguration
    private let catchUp: CatchUpConfiguration
    private let secrets: SecretReader
    private let clock: any RelayClock
    private let log: Log
    private var reader: PageReader
    private var client: HTTPClient?

    /// Creates a fetch for a stream whose items are of `format`.
    init(
        _ configuration: StreamConfiguration, _ catchUp: CatchUpConfiguration, format: EventFormat,
        surroundings: StreamReader.Surroundings
    ) {
        self.configuration = configuration
        self.catchUp = catchUp
        secrets = surroundings.secrets
        clock = surroundings.clock
        log = surroundings.log
        var generator = surroundings.generator
        reader = PageReader(
            catchUp, format: format, stream: configuration.name,
            random: UInt64.random(in: .min ... .max, using: &generator))
    }

    /// Asks for a page.
    func run(_ question: PageQuestion) async -> Answer {
        let headers: StreamHeaders.Fields
        do throws(StreamHeaders.Failure) {
            headers = try await StreamHeaders(configuration: configuration, secrets: secrets).read()
        } catch {
            return Task.isCancelled ? .stopped : .failed(Ending(.authOrPolicy, error.reason), status: nil)
        }
        let client = client ?? HTTPClient(connectionsPerHost: 1, idleConnections: 1)
        self.client = client
        switch await client.send(request(question.address, headers.fields)) {
        case .failure(let failure):
            if failure.kind == .cancelled { return .stopped }
            let cause = failure.kind == .invalid ? Ending.Cause.authOrPolicy : .network
            return .failed(Ending(cause, failure.sentence), status: nil)
        case .success(let response):
            return take(response, question, hiding: headers.secrets)
        }
    }

    /// Closes the connection that was kept for the next page.
    func close() {
        client?.close()
        client = nil
    }

    private func request(_ address: Secret, _ fields: [(name: String, value: String)]) -> HTTPRequest {
        let hasAccept = fields.contains { $0.name.lowercased() == "accept" }
        let files = configuration.tls
        return HTTPRequest(
            .get, url: address.reveal(), headers: fields + (hasAccept ? [] : [("Accept", "application/json")]),
            timeout: catchUp.pageTimeout, proxy: proxy,
            tls: HTTPRequest.TLS(
                authorityFile: files.authorities.map(secrets.absolute),
                certificateFile: files.certificate.map(secrets.absolute), keyFile: files.key.map(secrets.absolute)),
            maxResponseBytes: CatchUpConfiguration.mostPageBytes)
    }

    private var proxy: HTTPRequest.Proxy {
        switch configuration.proxy {
        case nil: .environment
        case "direct": .none
        case let url?: .url(url)
        }
    }

    private var place: String { catchUp.url.description }

    private func take(_ response: HTTPResponse, _ question: PageQuestion, hiding secrets: [Secret]) -> Answer {
        guard (200...299).contains(response.status) else {
            return .failed(refusal(response, hiding: secrets), status: response.status)
        }
        // Where there is nothing to tell, a server may say so without a page.
        if response.status == 204 {
            return .page(CatchUpPage(batch: EventBatch(stream: configuration.name), count: 0))
        }
        do throws(PageFault) {
            guard !response.isTruncated else {
                throw PageFault("the page is larger than \(CatchUpConfiguration.mostPageBytes >> 20) MiB")
            }
            return .page(try read(response, question, hiding: secrets))
        } catch {
            // What is wrong with a page today is mostly wrong with it in a second.
            let reason = ServerText.clean("\(place): \(error.reason)", hiding: secrets)
            return .failed(Ending(.authOrPolicy, reason), status: nil)
        }
    }

    private func read(
        _ response: HTTPResponse, _ question: PageQuestion, hiding secrets: [Secret]
    ) throws(PageFault) -> CatchUpPage {
        let links = catchUp.next == .link ? response.headers.filter { $0.name == "link" }.map(\.value) : []
        let next = NextAddress(configuration: catchUp, cursor: question.cursor, page: question.address)
        let result = try reader.read(
            response.body, links: links, room: question.room, receivedAt: clock.wallNow(), next: next, hiding: secrets)
        for report in result.reports {
            log(
                .warning, "stream", report.fault.sentence,
                [("stream", configuration.name), ("in", "catch-up"), ("content", report.excerpt)])
        }
        return result.page
    }

    private func refusal(_ response: HTTPResponse, hiding secrets: [Secret]) -> Ending {
        let wait = response.header("retry-after").flatMap { RetryAfter.parse($0, at: clock.wallNow()) }
        var reason = "\(place): the server answered \(response.status)"
        if (300...399).contains(response.status) {
            reason += ", and no redirect is followed"
            if let location = response.header("location"), case .success(let address) = HTTPAddress.parse(location) {
                reason += " (it leads to \(address.scheme)://\(address.authority))"
            }
        }
        return Ending(
            Ending.cause(status: response.status, retryAfter: wait), ServerText.clean(reason, hiding: secrets))
    }
}
