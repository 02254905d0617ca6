/// A result that one task awaits and that comes once: of several that are offered, the first counts.
@MainLoop
final class Pending<Value: Sendable> {
    private var result: Result<Value, any Error>?
    private var continuation: CheckedContinuation<Value, any Error>?

    /// Offers the result; later ones are ignored.
    func finish(_ result: Result<Value, any Error>) {
        guard self.result == nil else { return }
        self.result = result
        continuation?.resume(with: result)
        continuation = nil
    }

    /// Awaits the result; to be called once.
    ///
    /// - Throws: the failure offered, or `CancellationError` as soon as the task is cancelled.
    func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let result {
                    continuation.resume(with: result)
                } else {
                    self.continuation = continuation
                }
            }
        } onCancel: {
            MainLoop.post { self.finish(.failure(CancellationError())) }
        }
    }
}
