internal import CGLib
internal import Glibc

/// Tells when a file was written, replaced, created or removed, or its permissions changed.
///
/// The C function is `g_file_monitor_file`. What happens within a tenth of a second is told once, so that a save
/// by an editor is one change. Symbolic links on the way are followed: a link that points elsewhere is a change too, and so
/// is a folder on the way that is replaced.
@MainLoop
package final class FileWatch {
    /// Why nothing can be watched, such as too many inotify watches; `nil` if all is well.
    package private(set) var failure: GLibError?

    private let path: String
    private let onChange: @MainLoop () -> Void
    private var settle: LoopTimer?
    private var monitors: [(place: WatchedPlace, monitor: ObjectReference)] = []

    /// Watches `path`, which need not exist.
    package init(path: String, onChange: @escaping @MainLoop () -> Void) {
        self.path = path
        self.onChange = onChange
        settle = LoopTimer { [weak self] _ in self?.settled() }
        watchPlaces()
    }

    isolated deinit {
        for entry in monitors { g_file_monitor_cancel(entry.monitor.pointer(as: GFileMonitor.self)) }
        settle?.cancel()
    }

    /// Watches what is on the way now, if that may have become other than what was told.
    package func rearm() {
        watchPlaces()
    }

    private func settled() {
        watchPlaces()
        onChange()
    }

    /// Watches the file, every link on the way to it and every folder above them, as the way is now.
    private func watchPlaces() {
        let places = LinkedPath.placesAndFolders(of: path).map(WatchedPlace.init)
        guard places != monitors.map(\.place) else { return }
        // Those of a folder that is another one now go first: GLib would go on with its old watch of that path.
        for entry in monitors where !places.contains(entry.place) {
            g_file_monitor_cancel(entry.monitor.pointer(as: GFileMonitor.self))
        }
        let former = monitors
        monitors = places.compactMap { place in
            if let known = former.first(where: { $0.place == place }) { return known }
            return monitor(place.path).map { (place, $0) }
        }
    }

    private func monitor(_ place: String) -> ObjectReference? {
        let file = ObjectReference(adopting: g_file_new_for_path(place))
        var error: UnsafeMutablePointer<GError>?
        guard let made = g_file_monitor_file(file.opaque, G_FILE_MONITOR_WATCH_MOVES, nil, &error) else {
            failure = GLibError(taking: error)
            return nil
        }
        let callback = LoopCallback { [weak settle] in
            if let settle, settle.armed == nil { settle.schedule(after: .milliseconds(100)) }
        }
        relay_on_file_changed(
            made, { _, _, _, event, data in if FileWatch.counts(event) { LoopCallback.run(data) } },
            callback.retainedPointer(), { data, _ in LoopCallback.release(data) })
        return ObjectReference(adopting: made)
    }

    /// Every write counts when it is done; the file system says so, or GLib guesses after a pause.
    private nonisolated static func counts(_ event: GFileMonitorEvent) -> Bool {
        event != G_FILE_MONITOR_EVENT_CHANGED && event != G_FILE_MONITOR_EVENT_PRE_UNMOUNT
    }
}

/// A path, with the folder in which the kernel watches for it.
private struct WatchedPlace: Equatable {
    let path: String
    /// The device and the inode of the folder; nil if there is none.
    private let folder: [UInt64]?

    init(_ path: String) {
        self.path = path
        var status = stat()
        let end = path.lastIndex(of: "/") ?? path.startIndex
        let parent = end == path.startIndex ? "/" : String(path[..<end])
        folder = stat(parent, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : nil
    }
}

/// The way to a file through symbolic links.
enum LinkedPath {
    /// Returns what `places` does, and before each place the folders above it, each once.
    static func placesAndFolders(of path: String) -> [String] {
        var all: [String] = []
        for place in places(of: path) {
            var folder = place.hasPrefix("/") ? "" : "."
            for part in place.split(separator: "/").drop(while: { $0 == "." }) {
                folder += "/" + part
                if !all.contains(folder) { all.append(folder) }
            }
        }
        return all
    }

    /// As many links as the kernel follows.
    private static let mostLinks = 40

    /// Returns every symbolic link on the way of `path`, in folders too, and last the file that it leads to.
    static func places(of path: String) -> [String] {
        var places: [String] = []
        var done = path.hasPrefix("/") ? "" : "."
        var rest = path.split(separator: "/").map(String.init)[...]
        while let part = rest.popFirst() {
            let place = done + "/" + part
            guard let target = target(of: place), places.count < mostLinks else {
                done = place
                continue
            }
            places.append(place)
            if target.hasPrefix("/") { done = "" }
            rest = (target.split(separator: "/").map(String.init) + rest)[...]
        }
        return places + [done]
    }

    private static func target(of path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlink(path, $0, bytes.count) } ?? -1
        }
        return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }
}
