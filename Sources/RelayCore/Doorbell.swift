internal import GLibRuntime

/// Wakes one waiting task; a ring while nobody waits is kept for the next one that does.
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
            state.isRung = state.waiter == nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns after a ring that nobody has waited for yet, or when the task is cancelled.
    ///
    /// One task waits at a time.
    package func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isRung = state.withLock { state in
                    if state.isRung || Task.isCancelled {
                        state.isRung = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if isRung { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }
}
