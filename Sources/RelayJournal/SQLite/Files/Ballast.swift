internal import Glibc

/// A file that takes room, so that there is some to give back when the disk is full.
///
/// With a full disk not even a settlement can be written; what the ballast held is enough for many.
struct Ballast {
    private let path: String
    private let size: Int
    /// Whether the room is taken.
    private(set) var isHeld = false

    /// Looks for the ballast of a folder, and makes it if there is room.
    ///
    /// On a disk of less than eight times its size it is smaller.
    init(of folder: String, size: Int) {
        path = folder + "/journal.ballast"
        var status = statvfs()
        let total = statvfs(folder, &status) == 0 ? Int(clamping: UInt64(status.f_blocks)) * Int(status.f_frsize) : size
        self.size = min(size, total / 8)
        restore()
    }

    /// Gives the room back; returns whether there was any to give.
    mutating func release() -> Bool {
        guard isHeld else { return false }
        isHeld = false
        return truncate(path, 0) == 0
    }

    /// Takes the room again, if there is as much again beside it; returns whether it is taken.
    @discardableResult
    mutating func restore() -> Bool {
        if isHeld { return true }
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        fchmod(descriptor, 0o600)
        isHeld = isWhole(descriptor) || hasRoom && posix_fallocate(descriptor, 0, off_t(size)) == 0
        // What was allocated before it failed is part of what is missing.
        if !isHeld { _ = ftruncate(descriptor, 0) }
        return isHeld
    }

    private func isWhole(_ descriptor: Int32) -> Bool {
        var status = stat()
        // In blocks of 512 bytes: one that is sparse holds no room.
        return fstat(descriptor, &status) == 0 && Int(status.st_size) == size && Int(status.st_blocks) * 512 >= size
    }

    private var hasRoom: Bool {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return false }
        return Int(clamping: UInt64(status.f_bavail)) * Int(status.f_frsize) >= 2 * size
    }
}
