internal import GLibRuntime
internal import Glibc
internal import RelayCore
internal import RelayJournal

/// The directory in which a relay listens for commands, and its lock.
struct ControlPlace: Sendable {
    /// The directory.
    let directory: String
    private let lock: StateLock

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

    /// Takes the state directory, of which there is one relay at a time, and makes it if it is missing.
    ///
    /// - Throws: `CommandFault` (1) if it cannot be used, or a relay has it, which is named.
    static func take(state directory: String) throws(CommandFault) -> ControlPlace {
        do throws(StateFolder.Fault) {
            try StateFolder.prepare(directory)
            return ControlPlace(directory: directory, lock: try StateLock(of: directory))
        } catch {
            throw CommandFault(.failed, error.description)
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
        do throws(StateFolder.Fault) {
            try StateFolder.prepare(directory)
            if let reason = fault(ofDirectory: directory) {
                log(.warning, "control", "\(without): \(directory) cannot be used: \(reason)")
                return nil
            }
            return ControlPlace(directory: directory, lock: try StateLock(of: directory))
        } catch .inUse(_, let process) {
            log(
                .warning, "control",
                "\(without): another relay (process \(process)) has \(socket(in: directory)); give them state directories"
            )
        } catch {
            log(.warning, "control", "\(without): \(error)")
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
