internal import CGLib

extension MainLoop {
    /// Runs `body` on the loop soon; callable from any thread, also where nothing can be awaited.
    package static func post(_ body: @escaping @MainLoop () -> Void) {
        let source = g_idle_source_new()
        g_source_set_priority(source, G_PRIORITY_DEFAULT)
        g_source_set_callback(
            source,
            { data in
                LoopCallback.run(data)
                return gboolean(0)
            }, LoopCallback(body).retainedPointer(), LoopCallback.release)
        g_source_attach(source, executor.mainContext)
        g_source_unref(source)
    }
}

/// A closure that C code holds as its user data.
///
/// The C side owns one reference, given by `retainedPointer` and dropped by its destroy notify.
final class LoopCallback: Sendable {
    private let body: @MainLoop () -> Void

    init(_ body: @escaping @MainLoop () -> Void) {
        self.body = body
    }

    func retainedPointer() -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(self).toOpaque()
    }

    /// Runs the closure behind `data`, in a callback that GLib made on the loop's thread.
    static func run(_ data: UnsafeMutableRawPointer?) {
        guard let data else { return }
        let callback = Unmanaged<LoopCallback>.fromOpaque(data).takeUnretainedValue()
        MainLoop.assumeIsolated { callback.body() }
    }

    /// Drops the C side's reference: a `GDestroyNotify`.
    static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
        guard let data else { return }
        Unmanaged<LoopCallback>.fromOpaque(data).release()
    }
}
