internal import GLibRuntime
package import RelayCore

/// A sink that ends every attempt as its script says, and tells of each one.
package final class ScriptedSink: Sink {
    /// One attempt.
    package struct Attempt: Sendable, Equatable {
        /// The id of the event it tells of; the key of a digest.
        package var key: String
        /// The number among the attempts of this delivery, from 1.
        package var number: Int

        /// Creates an attempt.
        package init(_ key: String, _ number: Int) {
            self.key = key
            self.number = number
        }
    }

    private struct State {
        var counts: [String: Int] = [:]
        var running = 0
        var mostRunning = 0
        var waiting: [String: CheckedContinuation<Outcome, Never>] = [:]
        var isReady: Bool
    }

    package let name: String
    package let inFlight: Int
    /// Every attempt at its beginning; for one reader.
    package let attempts: AsyncStream<Attempt>
    private let told: AsyncStream<Attempt>.Continuation
    private let script: @Sendable (Attempt) -> Outcome?
    private let state: Locked<State>
    private let readyBell = Doorbell()

    /// Creates a sink; an attempt for which `script` returns nil lasts until `finish`, or until it is cancelled.
    package init(
        _ name: String = "sink", inFlight: Int = 1, isReady: Bool = true,
        script: @escaping @Sendable (Attempt) -> Outcome? = { _ in .delivered }
    ) {
        self.name = name
        self.inFlight = inFlight
        self.script = script
        state = Locked(State(isReady: isReady))
        (attempts, told) = AsyncStream.makeStream()
    }

    /// The most attempts that ran at the same time.
    package var mostRunning: Int { state.withLock { $0.mostRunning } }

    /// Lets attempts begin.
    package func becomeReady() {
        state.withLock { $0.isReady = true }
        readyBell.ring()
    }

    /// Ends the attempt of the delivery `key` that waits.
    package func finish(_ key: String, _ outcome: Outcome) {
        state.withLock { $0.waiting.removeValue(forKey: key) }?.resume(returning: outcome)
    }

    package func awaitReady() async {
        while !state.withLock({ $0.isReady }), !Task.isCancelled { await readyBell.wait() }
    }

    package func deliver(_ delivery: Delivery) async -> Outcome {
        let attempt = state.withLock { state in
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
            let name = delivery.eventID ?? delivery.key
            state.counts[name, default: 0] += 1
            return Attempt(name, state.counts[name, default: 0])
        }
        defer { state.withLock { $0.running -= 1 } }
        if let outcome = script(attempt) {
            told.yield(attempt)
            return outcome
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiting[attempt.key] = continuation }
                told.yield(attempt)
                if Task.isCancelled { finish(attempt.key, .retry(after: nil, because: "cancelled")) }
            }
        } onCancel: {
            finish(attempt.key, .retry(after: nil, because: "cancelled"))
        }
    }

    package func close() async {}
}
