internal import Synchronization

/// Guards a value by a lock for a few synchronous lines.
///
/// The only lock type of the project, so that the one suppression which tells the thread sanitizer about
/// `Mutex` (whose futex it does not see) has one place to point at.
package final class Locked<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    /// Creates a lock around `value`.
    package init(_ value: Value) {
        mutex = Mutex(value)
    }

    /// Runs `body` with exclusive access to the value and returns its result.
    ///
    /// `body` must not block and must not lock again.
    package func withLock<Result: Sendable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try mutex.withLock { value throws(Failure) in try body(&value) }
    }
}
