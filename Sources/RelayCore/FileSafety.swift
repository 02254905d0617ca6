internal import Glibc

/// Reads small files whose content is trusted, and only if nobody else could have written them.
package enum FileSafety {
    /// Who else may read the file.
    package enum Privacy: Sendable {
        /// Everybody, as for a rules file.
        case open
        /// Nobody; a file of root that the relay reads through its group may have that group.
        case secret
    }

    /// Why a file is not used.
    ///
    /// Names the path and never quotes the content.
    package struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
        /// What was found.
        package enum Reason: Sendable, Equatable {
            /// A system call failed; `isAbsent` for a file that does not exist.
            case unreadable(call: String, text: String, isAbsent: Bool)
            case notRegular
            case tooLarge(limit: Int)
            case othersCanWrite(mode: UInt32)
            case othersCanRead(mode: UInt32)
            case ownedBy(user: UInt32)
        }

        /// The file.
        package var path: String
        /// What was found.
        package var reason: Reason

        package var description: String {
            switch reason {
            case .unreadable(let call, let text, _): "\(path): \(call) failed: \(text)"
            case .notRegular: "\(path) is no regular file"
            case .tooLarge(let limit): "\(path) is larger than \(limit) bytes"
            case .othersCanWrite(let mode):
                "\(path) can be written by others (mode \(octal(mode))); run chmod go-w on it"
            case .othersCanRead(let mode):
                "\(path) can be read by others (mode \(octal(mode))); run chmod 600 on it, or set \"insecure\": true"
            case .ownedBy(let user): "\(path) belongs to another user (uid \(user))"
            }
        }

        private func octal(_ mode: UInt32) -> String { "0" + String(mode, radix: 8) }
    }

    /// Reads a file whole, after checking the open descriptor, so that nobody can swap the file in between.
    ///
    /// A FIFO does not block the call, since it is refused before it is read. Symbolic links are followed, as
    /// mounted secrets are links.
    /// - Throws: `Fault` if the file is absent, no regular file, over `limit` bytes, owned by neither the relay's
    ///   user nor root, or open to others.
    package static func read(_ path: String, privacy: Privacy, limit: Int) throws(Fault) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw systemFault(path, "open") }
        defer { close(descriptor) }
        try check(descriptor: descriptor, path: path, privacy: privacy)
        return try content(of: descriptor, path: path, limit: limit)
    }

    /// Checks an open file as `read` does.
    package static func check(descriptor: Int32, path: String, privacy: Privacy) throws(Fault) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw systemFault(path, "fstat") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Fault(path: path, reason: .notRegular) }
        let mode = status.st_mode & 0o777
        let user = geteuid()
        guard status.st_uid == user || status.st_uid == 0 else {
            throw Fault(path: path, reason: .ownedBy(user: status.st_uid))
        }
        guard mode & 0o022 == 0 else { throw Fault(path: path, reason: .othersCanWrite(mode: mode)) }
        guard case .secret = privacy else { return }
        // A file of root with the relay's group is how an administrator hands a secret to a service's user.
        let isHandedOut = status.st_uid == 0 && user != 0
        guard mode & (isHandedOut ? 0o004 : 0o044) == 0 else {
            throw Fault(path: path, reason: .othersCanRead(mode: mode))
        }
    }

    private static func content(of descriptor: Int32, path: String, limit: Int) throws(Fault) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw systemFault(path, "read") }
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= limit else { throw Fault(path: path, reason: .tooLarge(limit: limit)) }
        }
    }

    private static func systemFault(_ path: String, _ call: String) -> Fault {
        let code = errno
        return Fault(
            path: path,
            reason: .unreadable(call: call, text: String(cString: strerror(code)), isAbsent: code == ENOENT))
    }
}
