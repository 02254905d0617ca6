internal import CGLib

/// A `GSource` attached to the loop that calls a closure at every dispatch, until it is cancelled or released.
@MainLoop
final class LoopSource {
    /// What kind of callback the source wants.
    enum Kind {
        /// A `GSourceFunc`: signals, idles.
        case plain
        /// A `GUnixFDSourceFunc`.
        case descriptor
        /// A `GPollableSourceFunc`.
        case pollable
        /// A `GSocketSourceFunc`.
        case socket
    }

    private var source: UnsafeMutablePointer<GSource>?

    /// Attaches `source`, whose only reference is taken over.
    init(_ source: UnsafeMutablePointer<GSource>?, _ kind: Kind, handler: @escaping @MainLoop () -> Void) {
        self.source = source
        let data = LoopCallback(handler).retainedPointer()
        switch kind {
        case .plain:
            g_source_set_callback(source, { LoopSource.dispatch($0) }, data, LoopCallback.release)
        case .descriptor:
            relay_source_set_fd_callback(
                source, { _, _, data in LoopSource.dispatch(data) }, data, LoopCallback.release)
        case .pollable:
            relay_source_set_pollable_callback(
                source, { _, data in LoopSource.dispatch(data) }, data, LoopCallback.release)
        case .socket:
            relay_source_set_socket_callback(
                source, { _, _, data in LoopSource.dispatch(data) }, data, LoopCallback.release)
        }
        // Else GLib takes the descriptors out of the loop and back for every dispatch, and wakes the loop twice for it.
        // Nothing runs the loop from within a callback.
        g_source_set_can_recurse(source, 1)
        g_source_attach(source, MainLoop.executor.mainContext)
    }

    isolated deinit {
        cancel()
    }

    /// Detaches the source; the closure is not called again.
    ///
    /// Allowed in the closure itself.
    func cancel() {
        guard let source else { return }
        self.source = nil
        g_source_destroy(source)
        g_source_unref(source)
    }

    private nonisolated static func dispatch(_ data: UnsafeMutableRawPointer?) -> gboolean {
        LoopCallback.run(data)
        return gboolean(1)
    }
}
