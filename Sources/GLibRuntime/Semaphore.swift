internal import Glibc

/// Wakes one thread that sleeps, at the cost of a futex and none if it does not sleep.
package final class Semaphore: Sendable {
    // The functions of sem_t are thread-safe by definition; the pointer is set once and freed with the object.
    nonisolated(unsafe) private let semaphore: UnsafeMutablePointer<sem_t>

    /// Creates a semaphore without a signal.
    package init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Lets one `wait` return.
    package func signal() {
        sem_post(semaphore)
    }

    /// Blocks the calling thread until a signal comes; never called on the main loop or a task's thread.
    package func wait() {
        while sem_wait(semaphore) != 0 && errno == EINTR {}
    }
}
