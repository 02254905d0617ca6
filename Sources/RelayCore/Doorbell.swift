internal import GLibRuntime

/// Wakes the one task that waits for it, from wherever something happened.
///
/// A ring while nobody waits is kept, once, so none is lost between looking and waiting.
package final class Doorbell: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    /// Creates a bell that has not been rung.
    package init() {}

    /// Wakes the waiting task, or the next one that waits.
    package func ring() {
        let waiter = state.withLock { state in
            let waiter = state.waiter
            state.waiter = nil
            if waiter == nil { state.isRung = true }
            return waiter
        }
        waiter?.resume()
    }

    /// Returns when it rings, or when the task is cancelled.
    package func wait() async {
        if Task.isCancelled || take() { return }
        await withTaskCancellationHandler {
            await waitForRing()
        } onCancel: {
            ring()
        }
        // The ring of a cancellation is not kept for whoever waits next.
        if Task.isCancelled { _ = take() }
    }

    /// Returns when it rings, when `clock` reaches `deadline`, or when the task is cancelled.
    package func wait(until deadline: Instant, on clock: any RelayClock) async {
        guard deadline < .distantFuture else { return await wait() }
        if Task.isCancelled || take() { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // Cancellation is what ends the sleep of a bell that rang; the caller looks at its own task.
                do { try await clock.sleep(until: deadline) } catch { return }
            }
            group.addTask { await self.wait() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Returns when it rings, even in a cancelled task, which still has to close what it owns.
    package func waitForRing() async {
        await withCheckedContinuation { continuation in
            let isRung = state.withLock { state in
                guard !state.isRung else {
                    state.isRung = false
                    return true
                }
                state.waiter = continuation
                return false
            }
            if isRung { continuation.resume() }
        }
    }

    private func take() -> Bool {
        state.withLock { state in
            defer { state.isRung = false }
            return state.isRung
        }
    }
}
