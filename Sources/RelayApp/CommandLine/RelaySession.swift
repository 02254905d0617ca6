internal import GLibRuntime
internal import RelayCore

/// One run of a relay under the signals of the process.
struct RelaySession {
    private let parts: Relay.Parts

    /// Takes what the relay is made of.
    init(_ parts: Relay.Parts) {
        self.parts = parts
    }

    /// Relays until a signal, or until the relay ends by itself.
    ///
    /// - Parameter started: is given the relay once it is wired up.
    /// - Returns: how the process ends.
    /// - Throws: `CommandFault` (78) if a secret of a sink cannot be read.
    @MainLoop
    func run(started: @MainLoop (Relay) -> Void = { _ in }) async throws(CommandFault) -> ExitCode {
        // From here on a signal ends the relay in order, even one that comes while secrets are read.
        let signals = UnixSignals()
        let relay: Relay
        do throws(MissingSecrets) {
            relay = try await Relay(parts)
        } catch {
            throw CommandFault(.configuration, error.entries.map { "chirp-relay: \($0)" })
        }
        started(relay)
        let log = parts.log
        return await withTaskGroup(of: ExitCode?.self) { group in
            group.addLoopTask { await relay.run() }
            group.addLoopTask { await Self.obey(signals, relay, log) }
            for await code in group {
                group.cancelAll()
                if let code { return code }
            }
            return .failed
        }
    }

    /// Reloads at SIGHUP, and ends the relay at the first signal to end; returns at the second, or when the task is cancelled.
    @MainLoop
    private static func obey(_ signals: UnixSignals, _ relay: Relay, _ log: Log) async -> ExitCode? {
        var isStopping = false
        for await signal in signals.stream {
            switch signal {
            case .hangup: relay.reload()
            case .terminate, .interrupt:
                if isStopping { return .failed }
                isStopping = true
                log(.info, "relay", "stopping; another signal ends it at once")
                relay.stop()
            }
        }
        return nil
    }
}
