internal import CGLib

/// Tells when a file was written, replaced, created or removed, or its permissions changed.
///
/// The C function is `g_file_monitor_file`. What happens within a tenth of a second is told once, so that a save
/// by an editor is one change. The target of a symbolic link is not watched.
@MainLoop
package final class FileWatch {
    /// Why nothing can be watched, such as too many inotify watches; `nil` if all is well.
    package let failure: GLibError?

    private let monitor: ObjectReference?
    private let settle: LoopTimer

    /// Watches `path`, which need not exist.
    package init(path: String, onChange: @escaping @MainLoop () -> Void) {
        settle = LoopTimer { _ in onChange() }
        let file = ObjectReference(adopting: g_file_new_for_path(path))
        var error: UnsafeMutablePointer<GError>?
        guard let made = g_file_monitor_file(file.opaque, G_FILE_MONITOR_WATCH_MOVES, nil, &error) else {
            monitor = nil
            failure = GLibError(taking: error)
            return
        }
        monitor = ObjectReference(adopting: made)
        failure = nil
        let callback = LoopCallback { [weak settle] in
            if let settle, settle.armed == nil { settle.schedule(after: .milliseconds(100)) }
        }
        relay_on_file_changed(
            made, { _, _, _, event, data in if FileWatch.counts(event) { LoopCallback.run(data) } },
            callback.retainedPointer(), { data, _ in LoopCallback.release(data) })
    }

    isolated deinit {
        if let monitor { g_file_monitor_cancel(monitor.pointer(as: GFileMonitor.self)) }
        settle.cancel()
    }

    /// Every write counts when it is done; the file system says so, or GLib guesses after a pause.
    private nonisolated static func counts(_ event: GFileMonitorEvent) -> Bool {
        event != G_FILE_MONITOR_EVENT_CHANGED && event != G_FILE_MONITOR_EVENT_PRE_UNMOUNT
    }
}
