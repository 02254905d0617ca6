import Glibc
import Testing

/// A program that a test runs and ends by its id.
final class TestProcess: Sendable {
    let id: pid_t
    private let output: Int32

    /// Starts `words`, with `variables` in addition to the environment.
    init(_ words: [String], variables: [String: String] = [:]) throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let arguments = (["/usr/bin/env"] + variables.map { "\($0)=\($1)" } + words).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var id = pid_t()
        let code = posix_spawn(&id, "/usr/bin/env", &actions, nil, arguments, environ)
        close(ends[1])
        try #require(code == 0, "cannot start \(words)")
        self.id = id
        output = ends[0]
    }

    deinit {
        end()
        close(output)
    }

    /// Reads one line of the program's output; nil at its end.
    func line() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return nil
    }

    /// Sends a signal.
    func signal(_ number: Int32) {
        kill(id, number)
    }

    /// Kills the program and waits for its end.
    func end() {
        kill(id, SIGKILL)
        waitpid(id, nil, 0)
    }

    /// Whether a program is installed.
    static func isInstalled(_ path: String) -> Bool {
        access(path, X_OK) == 0
    }
}
