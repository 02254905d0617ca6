internal import Glibc

/// The folder in which a relay keeps its state: `--state`, `$STATE_DIRECTORY`, or the user's own.
package enum StateFolder {
    /// Why a folder cannot be used.
    package enum Fault: Error, Sendable, Equatable, CustomStringConvertible {
        /// It is not there and cannot be made.
        case cannotMake(path: String, reason: String)
        /// It is a file, or something else.
        case noFolder(path: String)
        /// It cannot be written.
        case readOnly(path: String, reason: String)
        /// Everybody may write into it, and so make the relay read what it did not write.
        case openToAll(path: String, mode: UInt32)
        /// Another process has it; zero if that did not say which.
        case inUse(path: String, process: Int)

        package var description: String {
            switch self {
            case .cannotMake(let path, let reason):
                "the state directory \(path) cannot be made: \(reason). Make it for this user (install -d -m 700 "
                    + "\(path)), name another with --state, or keep everything in memory with --no-state"
            case .noFolder(let path):
                "\(path) is no directory. Name another with --state, or keep everything in memory with --no-state"
            case .readOnly(let path, let reason):
                "the state directory \(path) cannot be written: \(reason). Give it to this user, name another with "
                    + "--state, or keep everything in memory with --no-state"
            case .openToAll(let path, let mode):
                "the state directory \(path) can be written by others (mode 0\(String(mode, radix: 8))); run chmod "
                    + "go-w on it"
            case .inUse(let path, let process):
                "process \(process > 0 ? String(process) : "of another relay") uses the state directory \(path); stop "
                    + "it first, or name another directory with --state"
            }
        }
    }

    /// Makes sure that there is such a folder, which is made for this user alone, with those above it.
    ///
    /// One that is there is left as it is, but refused if others can write into it.
    package static func prepare(_ path: String) throws(Fault) {
        try make(path)
        var status = stat()
        guard stat(path, &status) == 0 else { throw .cannotMake(path: path, reason: systemText()) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .noFolder(path: path) }
        let mode = status.st_mode & 0o777
        guard mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0 else { throw .openToAll(path: path, mode: mode) }
        guard access(path, W_OK | X_OK) == 0 else { throw .readOnly(path: path, reason: systemText()) }
    }

    private static func make(_ path: String) throws(Fault) {
        if access(path, F_OK) == 0 { return }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try make(String(path[..<slash])) }
        // The mask of the user does not count: nobody else has to see what is in it.
        guard mkdir(path, 0o700) == 0 else {
            if errno == EEXIST { return }
            throw .cannotMake(path: path, reason: systemText())
        }
        chmod(path, 0o700)
    }

    static func systemText() -> String { String(cString: strerror(errno)) }
}

/// The right of one process to write in a state folder, which ends with the value, or with the process.
///
/// The C function is `flock`; the file `lock` holds the number of the process, for whoever comes second.
package final class StateLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock of a folder that `StateFolder.prepare` was called for.
    package init(of folder: String) throws(StateFolder.Fault) {
        let path = folder + "/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .readOnly(path: folder, reason: StateFolder.systemText()) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            defer { close(descriptor) }
            guard errno == EWOULDBLOCK else { throw .readOnly(path: folder, reason: StateFolder.systemText()) }
            throw .inUse(path: folder, process: Self.process(in: descriptor))
        }
        self.descriptor = descriptor
        fchmod(descriptor, 0o600)
        let text = Array("\(getpid())\n".utf8)
        // Who cannot read the number is told that it is unknown.
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
    }

    deinit {
        close(descriptor)
    }

    private static func process(in descriptor: Int32) -> Int {
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(0, count)).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self)) ?? 0
    }
}
