internal import CGLib
internal import Glibc

/// Tells when somebody set the wall clock, so that deadlines taken from it can be computed anew.
///
/// A `timerfd` on `CLOCK_REALTIME` with `TFD_TIMER_CANCEL_ON_SET`, whose own deadline never comes.
@MainLoop
package final class WallClockWatch {
    private let descriptor: Int32
    private let onSet: @MainLoop () -> Void
    private var source: LoopSource?

    /// Whether the system gave a timer; without it nothing is ever told.
    package var isWatching: Bool { source != nil }

    /// Calls `onSet` after every jump of the clock.
    package init(onSet: @escaping @MainLoop () -> Void) {
        self.onSet = onSet
        descriptor = timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC))
        guard descriptor >= 0, arm() else { return }
        source = LoopSource(g_unix_fd_source_new(descriptor, G_IO_IN), .descriptor) { [weak self] in
            self?.becameReadable()
        }
    }

    isolated deinit {
        source?.cancel()
        if descriptor >= 0 { close(descriptor) }
    }

    private func becameReadable() {
        var expirations: UInt64 = 0
        let count = Glibc.read(descriptor, &expirations, MemoryLayout<UInt64>.size)
        guard count < 0, errno == ECANCELED else { return }
        _ = arm()
        onSet()
    }

    private func arm() -> Bool {
        var setting = itimerspec()
        setting.it_value.tv_sec = .max
        let flags = Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET)
        return timerfd_settime(descriptor, flags, &setting, nil) == 0
    }
}
