internal import GLibRuntime
internal import RelayCore

/// Reads the rules file again when it is asked to or when the file has changed: all or nothing.
///
/// What asks while a load is under way gets one more load after it.
@MainLoop
final class Reloader {
    /// Why the file is read again.
    enum Cause: Sendable {
        /// Somebody asked for it, and wants an answer.
        case signal
        /// The file changed, or something about it.
        case change
    }

    private unowned let relay: Relay
    private let log: Log
    private let bell = Doorbell()
    private var isAsked = false
    /// Watches over the files of the sinks' secrets, by their paths.
    private var secretWatches: [String: FileWatch] = [:]

    /// Creates the reloader of a relay; `run` does its work.
    init(_ relay: Relay) {
        self.relay = relay
        log = relay.parts.log
    }

    /// Reads the file soon.
    func request(_ cause: Cause) {
        if cause == .signal { isAsked = true }
        bell.ring()
    }

    /// Watches the file and those of secrets, and loads them whenever there is a reason, until the task is cancelled.
    func run() async {
        let path = relay.parts.rulesPath
        let watch = path.map { FileWatch(path: $0) { [weak self] in self?.request(.change) } }
        if let failure = watch?.failure {
            log(
                .warning, "rules", "changes of the rules file are not noticed; send SIGHUP after one",
                [("because", failure.message)])
        }
        while true {
            watchSecrets()
            await bell.wait()
            if Task.isCancelled { break }
            let isAsked = isAsked
            self.isAsked = false
            if path == nil, isAsked {
                log(.warning, "rules", "the rules are in no file that can be read again: the rules stay as they were")
            }
            await load(path, isAsked: isAsked)
        }
        secretWatches = [:]
        withExtendedLifetime(watch) {}
    }

    private func watchSecrets() {
        let known = secretWatches
        secretWatches = relay.secretFiles.reduce(into: [:]) { watches, file in
            watches[file] = known[file] ?? FileWatch(path: file) { [weak self] in self?.request(.change) }
        }
    }

    /// Reads the rules again and their secrets; without a path the secrets alone.
    private func load(_ path: String?, isAsked: Bool) async {
        do throws(RulesFile.Fault) {
            let former = LoadedRules(configuration: relay.configuration, warnings: [])
            let loaded = if let path { try await LoadedRules.read(path) } else { former }
            let differences = relay.configuration.outline.differences(to: loaded.configuration.outline)
            let prepared = try await prepare(loaded)
            if Task.isCancelled { return }
            let isSame = differences.isEmpty && hasSameSecrets(prepared)
            if isSame {
                return log(isAsked ? .info : .debug, "rules", "the rules file was read again: nothing changed")
            }
            await relay.adopt(loaded.configuration, prepared)
            for warning in loaded.warnings { log(.warning, "rules", warning.line(file: path ?? "")) }
            let what =
                differences.isEmpty
                ? "secrets changed and are in force" : "the rules file was read again and is in force"
            log(.info, "rules", what, differences)
        } catch {
            for line in error.lines { log(.error, "rules", line) }
            log(.error, "rules", "the rules file cannot be used: the rules stay as they were")
        }
    }

    private func prepare(_ loaded: LoadedRules) async throws(RulesFile.Fault) -> [PreparedSink] {
        do throws(MissingSecrets) {
            return try await relay.prepare(loaded.configuration)
        } catch {
            throw RulesFile.Fault(lines: error.entries.map(\.description))
        }
    }

    private func hasSameSecrets(_ prepared: [PreparedSink]) -> Bool {
        let known = relay.sinks.prepared
        return known.count == prepared.count && zip(known, prepared).allSatisfy { $0.isSame(as: $1) }
    }
}

/// A rules file that was read and is right.
struct LoadedRules: Sendable {
    /// What it says.
    var configuration: RelayConfiguration
    /// What looks wrong in it.
    var warnings: [Problem]

    /// Reads and checks a file, beside the main loop: a large file takes seconds.
    ///
    /// - Throws: `RulesFile.Fault` with every problem.
    static func read(_ path: String) async throws(RulesFile.Fault) -> LoadedRules {
        try await withTaskExecutorPreference(globalConcurrentExecutor) {
            () async -> Result<LoadedRules, RulesFile.Fault> in
            await readBeside(path)
        }.get()
    }

    @concurrent private static func readBeside(_ path: String) async -> Result<LoadedRules, RulesFile.Fault> {
        do throws(RulesFile.Fault) {
            let (configuration, warnings) = try RulesFile(path: path).configuration()
            return .success(LoadedRules(configuration: configuration, warnings: warnings))
        } catch {
            return .failure(error)
        }
    }
}
