internal import GLibRuntime
internal import HTTPClient
internal import RelayCore
internal import RelaySinks

/// A sink whose secrets have been read, so that nothing can be missing when it is made.
struct PreparedSink: Sendable {
    /// What the file says.
    var configuration: SinkConfiguration
    /// The secrets, in the order in which the type names them.
    var secrets: [Secret]

    /// Whether `other` is the same in all that counts.
    func isSame(as other: PreparedSink) -> Bool {
        configuration.isWritten(as: other.configuration) && secrets == other.secrets
    }
}

/// Why sinks cannot be made: every secret that is missing.
struct MissingSecrets: Error, Equatable {
    /// A secret, and the sink that needs it.
    struct Entry: Equatable, CustomStringConvertible {
        var sink: String
        var failure: SecretFailure
        var description: String { "a secret of a sink is missing: \(failure) (sink \"\(sink)\")" }
    }

    var entries: [Entry]
}

/// Makes sinks from their configuration, with the secrets they need.
@MainLoop
final class SinkFactory {
    private let secrets: SecretReader
    private let clock: any RelayClock
    private let log: Log
    /// The one client of all webhooks; without one, libcurl and OpenSSL are not set up, which takes 3 MB.
    private lazy var http = HTTPClient()

    /// Creates a factory.
    init(secrets: SecretReader, clock: any RelayClock, log: Log) {
        self.secrets = secrets
        self.clock = clock
        self.log = log
    }

    /// Reads the secrets of sinks; a sink of `known` that is written alike keeps its own where they cannot be read.
    ///
    /// - Throws: `MissingSecrets` with all that cannot be read.
    func prepare(
        _ sinks: [SinkConfiguration], known: [PreparedSink] = []
    ) async throws(MissingSecrets) -> [PreparedSink] {
        var prepared: [PreparedSink] = []
        var missing: [MissingSecrets.Entry] = []
        for sink in sinks {
            let former = known.first { $0.configuration.isWritten(as: sink) }
            var secrets: [Secret] = []
            for (place, source) in sink.secrets.enumerated() {
                do throws(SecretFailure) {
                    secrets.append(try await read(source, of: sink, former: former?.secrets[place]))
                } catch {
                    missing.append(MissingSecrets.Entry(sink: sink.name, failure: error))
                }
            }
            prepared.append(PreparedSink(configuration: sink, secrets: secrets))
        }
        guard missing.isEmpty else { throw MissingSecrets(entries: missing) }
        return prepared
    }

    private func read(
        _ source: SecretSource, of sink: SinkConfiguration, former: Secret?
    ) async throws(SecretFailure) -> Secret {
        do throws(SecretFailure) {
            return try await secrets.read(source)
        } catch {
            guard let former else { throw error }
            log(
                .warning, "rules", "a secret cannot be read any more; the sink keeps the one it has",
                [("sink", sink.name), ("because", error.description)])
            return former
        }
    }

    /// Makes a sink; `output` is standard output, if a sink has it.
    func make(_ prepared: PreparedSink, output: StandardOutput?) -> any Sink {
        let name = prepared.configuration.name
        switch prepared.configuration.kind {
        case .stdout(let configuration):
            guard let output else { preconditionFailure("standard output is made before its sink") }
            return StdoutSink(
                name: name, configuration: configuration, style: output.style, queue: output.queue, clock: clock)
        case .webhook(let configuration):
            return webhook(name, configuration, prepared.secrets)
        #if Desktop
            case .desktop(let configuration):
                return DesktopSink(name: name, configuration: configuration, clock: clock, log: log)
        #endif
        }
    }

    private func webhook(_ name: String, _ configuration: WebhookConfiguration, _ secrets: [Secret]) -> WebhookSink {
        var rest = secrets[...]
        func resolve(_ text: WebhookText) -> Secret {
            switch text {
            case .written(let secret): secret
            case .secret: rest.popFirst() ?? Secret("")
            }
        }
        let url = resolve(configuration.url)
        let headers = configuration.headers.map { ($0.name, resolve($0.value)) }
        return WebhookSink(
            name: name, configuration: configuration, url: url, headers: headers, http: http, clock: clock,
            userAgent: "chirp-relay/\(Version.number)")
    }
}

extension SinkConfiguration {
    /// Whether the file says the same of `other`.
    fileprivate func isWritten(as other: SinkConfiguration) -> Bool {
        name == other.name && fingerprint == other.fingerprint
    }

    /// The secrets that the sink needs.
    var secrets: [SecretSource] {
        if case .webhook(let configuration) = kind { return configuration.secrets }
        return []
    }
}
