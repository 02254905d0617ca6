internal import CGLib

/// The `GAsyncResult` of a finished GIO operation, to be passed to its `_finish` function.
///
/// What the operation made and nobody took goes with it.
@MainLoop
final class AsyncResult {
    let reference: ObjectReference

    init(_ reference: ObjectReference) {
        self.reference = reference
    }

    var pointer: OpaquePointer { reference.opaque }
}

/// Cancels GIO operations; may be told so from any thread.
final class Cancellable: Sendable {
    // A GCancellable is reference counted atomically; it is cancelled and used on the loop only.
    nonisolated(unsafe) let pointer: UnsafeMutablePointer<GCancellable>

    init() {
        pointer = g_cancellable_new()
    }

    deinit {
        g_object_unref(pointer)
    }

    /// Cancels, on the loop, soon.
    func cancelSoon() {
        MainLoop.post { self.cancel() }
    }

    /// Cancels at once.
    @MainLoop func cancel() {
        g_cancellable_cancel(pointer)
    }
}

/// The C side's reference to a waiting continuation.
private final class OperationContext: Sendable {
    let continuation: CheckedContinuation<AsyncResult, Never>

    init(_ continuation: CheckedContinuation<AsyncResult, Never>) {
        self.continuation = continuation
    }
}

/// Starts a GIO operation and awaits its ready callback.
///
/// `start` must call exactly one `_async` function with the callback and the user data it is given. GIO calls back
/// once whatever happens, so a cancelled operation ends here too, by its own error.
@MainLoop
func asyncOperation(
    _ start: (_ callback: GAsyncReadyCallback, _ data: UnsafeMutableRawPointer) -> Void
) async -> AsyncResult {
    await withCheckedContinuation { continuation in
        start(
            { _, result, data in
                guard let result, let data else { return }
                let context = Unmanaged<OperationContext>.fromOpaque(data).takeRetainedValue()
                nonisolated(unsafe) let raw = UnsafeMutableRawPointer(result)
                MainLoop.assumeIsolated {
                    context.continuation.resume(returning: AsyncResult(ObjectReference(retaining: raw)))
                }
            }, Unmanaged.passRetained(OperationContext(continuation)).toOpaque())
    }
}
