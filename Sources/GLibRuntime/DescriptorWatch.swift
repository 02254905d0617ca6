internal import CGLib

/// Calls a handler on the main loop whenever a file descriptor is ready.
///
/// The descriptor stays the caller's, who keeps it open and closes it. Readiness is level-triggered: the handler runs
/// again and again until it has read, written, narrowed the events or cancelled.
@MainLoop
package final class DescriptorWatch {
    /// What a descriptor should be, or is, ready for.
    package struct Events: OptionSet, Sendable, Hashable {
        package let rawValue: UInt32

        /// Creates a set from its bits, which are those of `GIOCondition`.
        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// There is something to read, or the other side has ended its stream.
        package static let readable = Events(rawValue: G_IO_IN.rawValue)
        /// A write would not block.
        package static let writable = Events(rawValue: G_IO_OUT.rawValue)
        /// An error waits, the other side has gone, or the descriptor is not open; told without being asked for.
        package static let failed = Events(rawValue: G_IO_ERR.rawValue | G_IO_HUP.rawValue | G_IO_NVAL.rawValue)
    }

    /// What the handler is called for, besides `failed`.
    package private(set) var events: Events
    private let handler: @MainLoop (Events) -> Void
    private var source: UnsafeMutablePointer<GSource>?
    private var tag: UnsafeMutableRawPointer?

    /// Begins to watch `descriptor`.
    ///
    /// The loop keeps the watch, and what `handler` captures, until `cancel()`. The C function is
    /// g_source_add_unix_fd.
    package init(descriptor: Int32, events: Events, handler: @escaping @MainLoop (Events) -> Void) {
        self.events = events
        self.handler = handler
        // A source is also dispatched when a descriptor added to it is ready. The reference taken here is given
        // back by `cancel()`.
        let source = relay_wake_source_new(
            MainLoop.executor.mainContext,
            { data in
                guard let data else { return gboolean(0) }
                let watch = Unmanaged<DescriptorWatch>.fromOpaque(data).takeUnretainedValue()
                MainLoop.assumeIsolated { watch.dispatch() }
                return gboolean(1)
            }, Unmanaged.passRetained(self).toOpaque())
        self.source = source
        // Else GLib takes the descriptor out of the loop and back for every dispatch, and wakes the loop twice for
        // it. Nothing runs the loop from within a callback.
        g_source_set_can_recurse(source, 1)
        tag = g_source_add_unix_fd(source, descriptor, GIOCondition(rawValue: events.rawValue))
    }

    /// Watches for `events` from now on.
    ///
    /// The C function is g_source_modify_unix_fd.
    package func update(events: Events) {
        guard events != self.events, let source, let tag else { return }
        self.events = events
        g_source_modify_unix_fd(source, tag, GIOCondition(rawValue: events.rawValue))
    }

    /// Ends the watch; the handler is not called again.
    ///
    /// May be called at any time, and again.
    package func cancel() {
        guard let source else { return }
        self.source = nil
        tag = nil
        g_source_destroy(source)
        g_source_unref(source)
        Unmanaged.passUnretained(self).release()
    }

    private func dispatch() {
        guard let source, let tag else { return }
        handler(Events(rawValue: g_source_query_unix_fd(source, tag).rawValue))
    }
}
