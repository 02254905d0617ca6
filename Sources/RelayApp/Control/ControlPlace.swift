internal import GLibRuntime
internal import Glibc
internal import RelayCore

/// The directory in which a relay listens for commands, and its lock.
struct ControlPlace: Sendable {
    /// The directory.
    let directory: String
    private let lock: FileLock

    /// The path of the socket.
    var socket: String { Self.socket(in: directory) }

    /// The path of the socket in a directory.
    static func socket(in directory: String) -> String { directory + "/control.sock" }

    /// The directory for relays that keep no state: `$XDG_RUNTIME_DIR/chirp-relay`; nil if the variable is unset.
    static func runtimeDirectory(_ environment: (String) -> String?) -> String? {
        environment("XDG_RUNTIME_DIR").flatMap { $0.hasPrefix("/") ? $0 + "/chirp-relay" : nil }
    }

    /// Why a path cannot be that of a socket, or nil.
    static func fault(ofSocket path: String) -> String? {
        guard path.utf8.count > UnixSocketListener.longestPath else { return nil }
        return "the path of the control socket, \(path), is longer than the \(UnixSocketListener.longestPath) bytes "
            + "that the system allows; choose a shorter directory with --state"
    }

    /// Takes the state directory, of which there is one relay at a time.
    ///
    /// - Returns: nil if there can be no lock, which is told.
    /// - Throws: `CommandFault` (1) that names the relay which has it.
    static func take(state directory: String, _ log: Log) throws(CommandFault) -> ControlPlace? {
        switch FileLock.take(directory + "/lock") {
        case .taken(let lock): return ControlPlace(directory: directory, lock: lock)
        case .held(let process):
            let who = process.map { " (process \($0))" } ?? ""
            throw CommandFault(
                .failed,
                "another relay\(who) uses the state directory \(directory); end it, or give this one another with --state"
            )
        case .impossible(let reason):
            log(.warning, "control", "commands cannot reach this relay: \(reason)")
            return nil
        }
    }

    /// Takes the directory for relays that keep no state.
    ///
    /// - Returns: nil if there is none or another relay has it, which is told.
    static func takeRuntimeDirectory(_ environment: (String) -> String?, _ log: Log) -> ControlPlace? {
        let without = "commands such as `silence` cannot reach this relay"
        guard let directory = runtimeDirectory(environment) else {
            log(.info, "control", "\(without): it has no state directory, and $XDG_RUNTIME_DIR is not set")
            return nil
        }
        if let reason = StateDirectory.make(directory) ?? fault(ofDirectory: directory) {
            log(.warning, "control", "\(without): \(directory) cannot be used: \(reason)")
            return nil
        }
        switch FileLock.take(directory + "/lock") {
        case .taken(let lock): return ControlPlace(directory: directory, lock: lock)
        case .held(let process):
            let who = process.map { " (process \($0))" } ?? ""
            log(
                .warning, "control",
                "\(without): another relay\(who) has \(socket(in: directory)); give them state directories")
        case .impossible(let reason): log(.warning, "control", "\(without): \(reason)")
        }
        return nil
    }

    /// Why others could put something into a directory, or nil.
    private static func fault(ofDirectory path: String) -> String? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return String(cString: strerror(errno)) }
        guard status.st_uid == geteuid() else { return "it belongs to another user" }
        return status.st_mode & 0o077 == 0 ? nil : "others can enter it; run chmod 700 on it"
    }
}
