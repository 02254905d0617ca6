internal import GLibRuntime
internal import RelayCore

/// Wakes the one task that waits for it, from wherever something happened.
///
/// A ring while nobody waits is kept, once, so none is lost between looking and waiting.
final class Bell: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    /// Wakes the waiting task, or the next one that waits.
    func ring() {
        let waiter = state.withLock { state in
            let waiter = state.waiter
            state.waiter = nil
            if waiter == nil { state.isRung = true }
            return waiter
        }
        waiter?.resume()
    }

    /// Returns when it rings, when `clock` reaches `deadline`, or when the task is cancelled.
    func wait(until deadline: Instant, on clock: any RelayClock) async {
        if Task.isCancelled || take() { return }
        guard deadline < .distantFuture else { return await waitCancellably() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // Cancellation is what ends the sleep of a bell that rang; the caller looks at its own task.
                do { try await clock.sleep(until: deadline) } catch { return }
            }
            group.addTask { await self.waitCancellably() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Returns when it rings, even in a cancelled task, which still has to close its connection.
    func waitForRing() async {
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

    private func waitCancellably() async {
        await withTaskCancellationHandler {
            await waitForRing()
        } onCancel: {
            ring()
        }
        // The ring of a cancellation is not kept for whoever waits next.
        if Task.isCancelled { _ = take() }
    }

    private func take() -> Bool {
        state.withLock { state in
            defer { state.isRung = false }
            return state.isRung
        }
    }
}
