internal import Glibc

/// A small file system of its own, in memory, which only root can mount; it goes with the value.
package final class SmallDisk: Sendable {
    /// Whether there can be one.
    package static let canMount: Bool = geteuid() == 0 && (try? SmallDisk(megabytes: 1)) != nil

    private let folder: TemporaryFolder
    /// Where it is mounted.
    package var path: String { folder.path }

    /// Mounts one of so many megabytes.
    package init(megabytes: Int) throws {
        struct Failure: Error { var number = errno }
        folder = try TemporaryFolder()
        guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(megabytes)m,mode=700") == 0 else { throw Failure() }
    }

    deinit {
        umount2(folder.path, Int32(MNT_DETACH))
    }

    /// Makes it read-only; returns whether it is.
    package func becomeReadOnly() -> Bool {
        mount(nil, folder.path, nil, UInt(MS_REMOUNT | MS_RDONLY), nil) == 0
    }
}
