internal import GLibRuntime
internal import HTTPClient
internal import RelayCore
internal import RelaySinks

/// Makes sinks from their configuration, with the secrets they need.
@MainLoop
final class SinkFactory {
    private let secrets: SecretReader
    private let clock: any RelayClock
    private let log: Log
    private let output: StandardOutput?
    /// The one client of all webhooks; without one, libcurl and OpenSSL are not set up, which takes 3 MB.
    private lazy var http = HTTPClient()

    /// Creates a factory; `output` is standard output, if a sink has it.
    init(secrets: SecretReader, clock: any RelayClock, log: Log, output: StandardOutput?) {
        self.secrets = secrets
        self.clock = clock
        self.log = log
        self.output = output
    }

    /// Makes a sink.
    ///
    /// - Throws: `SecretFailure` if one of its secrets cannot be read.
    func make(_ sink: SinkConfiguration) async throws(SecretFailure) -> any Sink {
        switch sink.kind {
        case .stdout(let configuration):
            guard let output else { preconditionFailure("standard output is made of the same sinks") }
            return StdoutSink(
                name: sink.name, configuration: configuration, style: output.style, queue: output.queue, clock: clock)
        case .webhook(let configuration):
            return try await webhook(sink.name, configuration)
        #if Desktop
            case .desktop(let configuration):
                return DesktopSink(name: sink.name, configuration: configuration, clock: clock, log: log)
        #endif
        }
    }

    private func webhook(
        _ name: String, _ configuration: WebhookConfiguration
    ) async throws(SecretFailure) -> WebhookSink {
        let url = try await resolve(configuration.url)
        var headers: [(String, Secret)] = []
        for header in configuration.headers { headers.append((header.name, try await resolve(header.value))) }
        return WebhookSink(
            name: name, configuration: configuration, url: url, headers: headers, http: http, clock: clock,
            userAgent: "chirp-relay/\(Version.number)")
    }

    private func resolve(_ text: WebhookText) async throws(SecretFailure) -> Secret {
        switch text {
        case .written(let secret): secret
        case .secret(let source): try await secrets.read(source)
        }
    }
}
