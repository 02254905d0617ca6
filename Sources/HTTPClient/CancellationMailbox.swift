internal import CCurl
internal import GLibRuntime
internal import Glibc

/// Takes the numbers of cancelled transfers from any thread and wakes the main loop for them.
///
/// A cancellation handler runs on the thread that cancels, and may not wait for the loop.
final class CancellationMailbox: Sendable {
    private let numbers = Locked<[UInt64]>([])
    private let descriptor: Int32

    /// Creates an empty mailbox. The C function is eventfd.
    init() {
        descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    }

    deinit {
        close(descriptor)
    }

    /// Calls `handler` on the loop after every `post`, until the watch is cancelled.
    @MainLoop
    func watch(_ handler: @escaping @MainLoop () -> Void) -> DescriptorWatch {
        DescriptorWatch(descriptor: descriptor, events: .readable) { _ in handler() }
    }

    /// Adds the number of a transfer. May be called on any thread.
    func post(_ number: UInt64) {
        numbers.withLock { $0.append(number) }
        var one: UInt64 = 1
        write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Takes all numbers posted so far.
    func take() -> [UInt64] {
        var count: UInt64 = 0
        read(descriptor, &count, MemoryLayout<UInt64>.size)
        return numbers.withLock { numbers in
            defer { numbers = [] }
            return numbers
        }
    }
}
