internal import GLibRuntime
internal import RelayCore
internal import WebSocketCodec

/// One dial: the token, the proxy, the socket and the WebSocket handshake, under one deadline.
@MainLoop
struct StreamDial {
    /// What came of a dial.
    enum Result {
        /// The server answered 101; `rest` are the bytes behind the answer.
        case opened(any StreamSocket, rest: [UInt8], secrets: [Secret])
        /// It failed.
        case failed(Ending)
        /// The task was cancelled.
        case stopped
    }

    let configuration: StreamConfiguration
    let secrets: SecretReader
    let environment: @Sendable (String) -> String?
    let clock: any RelayClock
    let transport: any StreamTransport

    /// Dials once.
    func run(key: [UInt8]) async -> Result {
        do throws(Refused) {
            let headers = try await headers()
            let values = headers.secrets + queryValues
            let deadline = clock.now() + configuration.dialTimeout
            guard let socket = try await socket() else { return .stopped }
            let handshake = ClientHandshake(
                target: configuration.url, headers: headers.fields, subprotocol: configuration.subprotocol, key: key)
            let exchange = HandshakeExchange(socket: socket, clock: clock, deadline: deadline)
            let answer = await exchange.run(handshake.request)
            socket.onReadable = nil
            if case .head(let head, let rest) = answer, let ending = refusal(handshake, head, rest) {
                socket.drop()
                return .failed(Ending(ending.cause, ServerText.redacted(ending.reason, hiding: values)))
            }
            switch answer {
            case .head(_, let rest):
                return .opened(socket, rest: rest, secrets: values)
            case .failed(let reason):
                socket.drop()
                // What is not HTTP at all is shown, and may be an echo of the request.
                return .failed(Ending(.network, ServerText.redacted("\(place): \(reason)", hiding: values)))
            case .stopped:
                socket.drop()
                return .stopped
            }
        } catch {
            return Task.isCancelled ? .stopped : .failed(error.ending)
        }
    }

    private struct Refused: Error {
        var ending: Ending
    }

    private var place: String { configuration.url.originDescription }

    /// The values in the query of the URL, where some servers want the token; shorter ones are no secrets.
    private var queryValues: [Secret] {
        configuration.url.target.drop { $0 != "?" }.dropFirst().split(separator: "&").compactMap { parameter in
            let value = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).last ?? ""
            return value.utf8.count < 6 ? nil : Secret(String(value))
        }
    }

    private func headers() async throws(Refused) -> StreamHeaders.Fields {
        do throws(StreamHeaders.Failure) {
            return try await StreamHeaders(configuration: configuration, secrets: secrets).read()
        } catch {
            throw Refused(ending: Ending(.authOrPolicy, error.reason))
        }
    }

    private func socket() async throws(Refused) -> (any StreamSocket)? {
        let target = try target()
        do {
            return try await transport.dial(target, timeout: configuration.dialTimeout)
        } catch let error as DialError {
            throw Refused(ending: Ending(.network, Self.describe(error, target)))
        } catch is CancellationError {
            return nil
        } catch {
            throw Refused(ending: Ending(.network, "\(place): \(error)"))
        }
    }

    private func target() throws(Refused) -> DialTarget {
        let url = configuration.url
        guard let port = UInt16(exactly: url.port) else {
            throw Refused(ending: Ending(.network, "\(place): no port"))
        }
        var target = DialTarget(host: url.host, port: port)
        if url.secure {
            let files = configuration.tls
            target.tls = TLSOptions(
                serverName: url.host, caFile: files.authorities.map(secrets.absolute),
                certificateFile: files.certificate.map(secrets.absolute), keyFile: files.key.map(secrets.absolute))
        }
        do throws(ProxyChoice.Fault) {
            let choice = try ProxyChoice.choose(
                isSecure: url.secure, host: url.host, port: port, configured: configuration.proxy,
                environment: environment)
            if case .proxy(let proxy) = choice { target.proxy = proxy.options }
        } catch {
            throw Refused(ending: Ending(.network, error.description))
        }
        return target
    }

    private static func describe(_ error: DialError, _ target: DialTarget) -> String {
        // G_IO_ERROR_PROXY_AUTH_FAILED and G_IO_ERROR_PROXY_NEED_AUTH: what GIO makes of a 407.
        let isUnauthorized = { (cause: GLibError) in
            cause.domain == "g-io-error-quark" && (41...42).contains(cause.code)
        }
        if let proxy = target.proxy, case .failed(let cause) = error.cause, isUnauthorized(cause) {
            return "the proxy \(proxy) needs credentials, or refuses those it got (407)"
        }
        let way = target.proxy.map { " (through the proxy \($0))" } ?? ""
        return error.description + way
    }

    /// Returns the ending that the answer makes, or nil if it is the 101 that it must be.
    private func refusal(_ handshake: ClientHandshake, _ head: HTTPHead, _ rest: [UInt8]) -> Ending? {
        do throws(HandshakeFault) {
            try handshake.check(head, body: rest)
            return nil
        } catch {
            var cause = Ending.Cause.network
            if case .refused(let refusal) = error {
                let wait = refusal.retryAfter.flatMap { RetryAfter.parse($0, at: clock.wallNow()) }
                cause = Ending.cause(status: refusal.status, retryAfter: wait)
            }
            return Ending(cause, "\(place): \(error)")
        }
    }
}

extension ProxyChoice.Proxy {
    /// The proxy as the dialler wants it.
    fileprivate var options: ProxyOptions {
        var options = ProxyOptions(host: host, port: port)
        if let credentials {
            let parts = credentials.reveal().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            options.user = parts.first.map(String.init)
            options.password = parts.count > 1 ? String(parts[1]) : nil
        }
        return options
    }
}

/// Sends the request of a handshake and collects the head of the answer.
@MainLoop
private final class HandshakeExchange {
    enum Answer {
        case head(HTTPHead, rest: [UInt8])
        case failed(String)
        case stopped
    }

    private let socket: any StreamSocket
    private let clock: any RelayClock
    private let deadline: Instant
    private let bell = Doorbell()
    private var parser = HTTPHeadParser(.response)
    private var answer: Answer?

    init(socket: any StreamSocket, clock: any RelayClock, deadline: Instant) {
        self.socket = socket
        self.clock = clock
        self.deadline = deadline
    }

    func run(_ request: [UInt8]) async -> Answer {
        socket.onReadable = { [weak self] in self?.readable() }
        socket.setReading(true)
        socket.write(request)
        while true {
            if let answer { return answer }
            if Task.isCancelled { return .stopped }
            if clock.now() >= deadline { return .failed("no answer to the WebSocket request in time") }
            await bell.wait(until: deadline, on: clock)
        }
    }

    private func readable() {
        guard answer == nil else { return }
        var chunk = [UInt8](repeating: 0, count: 16_384)
        let outcome = chunk.withUnsafeMutableBytes { socket.read(into: $0) }
        switch outcome {
        case .nothing: return
        case .end: answer = .failed("the server closed before it answered the WebSocket request")
        case .failed(let text): answer = .failed("waiting for the answer to the WebSocket request: \(text)")
        case .bytes(let count):
            do throws(HandshakeFault) {
                guard let head = try parser.feed(chunk[..<count]) else { return }
                // What comes next belongs to the connection, which takes the socket over in a moment.
                socket.setReading(false)
                answer = .head(head, rest: parser.rest)
            } catch {
                answer = .failed(error.description)
            }
        }
        bell.ring()
    }
}
