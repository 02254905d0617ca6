internal import Glibc

/// A lock that one process has at a time (flock(2)), on a file that says which one.
///
/// It is given back when the value goes away, or with the process, however that ends.
final class FileLock: Sendable {
    /// What trying to take it found.
    enum Outcome {
        case taken(FileLock)
        /// Another process has it; nil if the file does not say which.
        case held(by: Int32?)
        /// There can be no lock, for this reason.
        case impossible(String)
    }

    private let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Takes the lock without waiting, and writes the process id into the file.
    static func take(_ path: String) -> Outcome {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return .impossible("open \(path): \(String(cString: strerror(errno)))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            defer { close(descriptor) }
            guard errno == EWOULDBLOCK else { return .impossible("flock: \(String(cString: strerror(errno)))") }
            return .held(by: holder(descriptor))
        }
        let text = Array("\(getpid())\n".utf8)
        // Only a hint for people: what counts is the lock.
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
        return .taken(FileLock(descriptor))
    }

    private static func holder(_ descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return Int32(String(decoding: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
