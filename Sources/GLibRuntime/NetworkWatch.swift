internal import CGLib

/// Tells when the routes of the machine changed and there is a network, as after Wi-Fi came back.
///
/// GIO's default monitor may be one that calls the system bus and waits; this one is always the kernel's own
/// (`netlink`).
@MainLoop
package final class NetworkWatch {
    private let monitor: ObjectReference?
    private let handler: gulong

    /// Whether there is something to watch by; without it nothing is ever told.
    package var isWatching: Bool { monitor != nil }

    /// Calls `onAvailable` after every change that leaves a network.
    package init(onAvailable: @escaping @MainLoop () -> Void) {
        guard let monitor = Self.makeMonitor() else {
            self.monitor = nil
            handler = 0
            return
        }
        self.monitor = monitor
        handler = relay_on_network_changed(
            monitor.opaque, { _, isAvailable, data in if isAvailable != 0 { LoopCallback.run(data) } },
            LoopCallback(onAvailable).retainedPointer(), { data, _ in LoopCallback.release(data) })
    }

    isolated deinit {
        if let monitor { g_signal_handler_disconnect(monitor.raw, handler) }
    }

    private static func makeMonitor() -> ObjectReference? {
        // Asking for any extension registers those that GIO has built in; no protocol has this name. (The TLS backend,
        // say, would load GnuTLS: 2 MB.)
        if let proxy = g_proxy_get_default_for_protocol("-") { g_object_unref(UnsafeMutableRawPointer(proxy)) }
        guard
            let point = g_io_extension_point_lookup("gio-network-monitor"),
            let netlink = g_io_extension_point_get_extension_by_name(point, "netlink"),
            let made = relay_initable_new(g_io_extension_get_type(netlink), nil)
        else { return nil }
        return ObjectReference(adopting: made)
    }
}
