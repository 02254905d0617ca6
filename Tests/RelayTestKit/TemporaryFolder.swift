internal import FoundationEssentials
internal import Glibc

/// A folder of its own for one test, removed with everything in it when the value goes away.
package final class TemporaryFolder: Sendable {
    /// The absolute path, without symbolic links.
    package let path: String

    /// Makes the folder; one that is to be quick lies in memory if it can, where an fsync costs nothing.
    package init(isQuick: Bool = false) throws {
        struct Failure: Error { var number = errno }
        let usual = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let parent = isQuick && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : usual
        var template = Array((parent + "/relay-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil, let resolved = realpath(template, nil) else { throw Failure() }
        path = String(cString: resolved)
        free(resolved)
    }

    deinit {
        remove()
    }

    /// Removes it early; what cannot be removed is left to whoever cleans the folder of temporary files.
    package func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns the path of a file in it.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file in place and returns its path.
    @discardableResult
    package func write(_ name: String, _ text: String, mode: UInt32 = 0o600) -> String {
        let file = file(name)
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return file }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
        // Who watches the file is to see the writing alone.
        var status = stat()
        if fstat(descriptor, &status) != 0 || status.st_mode & 0o7777 != mode { fchmod(descriptor, mode) }
        return file
    }

    /// Replaces a file as a careful program does.
    package func replace(_ name: String, _ text: String) {
        rename(write(name + ".new", text), file(name))
    }
}
