internal import CGLib
internal import Glibc

/// Runs a command for what it prints, such as a keyring's look-up of a secret.
package enum CommandOutput {
    /// Why a command gave no output.
    ///
    /// Tells the command's first word only: the others may be secret, as its output is.
    package struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
        package enum Cause: Sendable, Equatable {
            case noWords
            case notStarted(String)
            case timedOut
            case tooLong(limit: Int)
            case unreadable(String)
            case exited(status: Int32)
            case killed(signal: Int32)
        }

        package var command: String
        package var cause: Cause

        /// Creates a fault of the command with this first word.
        package init(command: String, cause: Cause) {
            self.command = command
            self.cause = cause
        }

        package var description: String {
            switch cause {
            case .noWords: "the command is empty"
            case .notStarted(let reason): "\(command) could not be started: \(reason)"
            case .timedOut: "\(command) took too long and was killed"
            case .tooLong(let limit): "\(command) printed over \(limit) bytes and was killed"
            case .unreadable(let reason): "the output of \(command) could not be read: \(reason)"
            case .exited(let status): "\(command) exited with status \(status)"
            case .killed(let signal): "\(command) was killed by signal \(signal)"
            }
        }
    }

    /// Runs `words` without a shell and returns the standard output of a success.
    ///
    /// Standard input is empty and standard error is dropped. At the deadline, over `limit` bytes or when the task is
    /// cancelled the command is killed, with all that it started and that did not leave its session.
    ///
    /// - Throws: ``Fault``, or `CancellationError`.
    @MainLoop package static func read(
        _ words: [String], timeout: Duration = .seconds(10), limit: Int = 64 << 10
    ) async throws -> [UInt8] {
        guard let command = words.first else { throw Fault(command: "", cause: .noWords) }
        let run = CommandRun(command: command, process: try start(words), limit: limit)
        return try await run.output(timeout: timeout)
    }

    @MainLoop private static func start(_ words: [String]) throws -> ObjectReference {
        var arguments = words.map { UnsafePointer(g_strdup($0)) } + [nil]
        defer { for argument in arguments { g_free(UnsafeMutableRawPointer(mutating: argument)) } }
        let flags = GSubprocessFlags(
            rawValue: G_SUBPROCESS_FLAGS_STDOUT_PIPE.rawValue | G_SUBPROCESS_FLAGS_STDERR_SILENCE.rawValue)
        let launcher = ObjectReference(adopting: g_subprocess_launcher_new(flags))
        relay_launcher_lead_session(launcher.opaque)
        var error: UnsafeMutablePointer<GError>?
        guard let process = g_subprocess_launcher_spawnv(launcher.opaque, &arguments, &error) else {
            // GLib's sentence quotes only the first word.
            throw Fault(command: words.first ?? "", cause: .notStarted(GLibError(taking: error).message))
        }
        return ObjectReference(adopting: process)
    }
}

/// One command under way.
@MainLoop
private final class CommandRun {
    private let command: String
    private let process: ObjectReference
    /// The process, and the group that it leads; 0 if it has ended already.
    private let group: pid_t
    private let limit: Int
    private let cancellable = Cancellable()
    private var isTimedOut = false

    init(command: String, process: ObjectReference, limit: Int) {
        self.command = command
        self.process = process
        group = g_subprocess_get_identifier(process.opaque).flatMap { pid_t(String(cString: $0)) } ?? 0
        self.limit = limit
    }

    func output(timeout: Duration) async throws -> [UInt8] {
        let timer = LoopTimer { [weak self] _ in
            self?.isTimedOut = true
            self?.cancellable.cancel()
        }
        timer.schedule(after: timeout)
        defer { timer.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try Task.checkCancellation()
                let bytes = try await readAll()
                try await awaitSuccess()
                return bytes
            } onCancel: { [cancellable] in
                cancellable.cancelSoon()
            }
        } catch {
            // GLib reaps the killed process; nobody has to wait for it.
            g_subprocess_force_exit(process.opaque)
            // The command may have ended and left others behind; as long as they live no other group gets the number.
            if group > 1 { kill(-group, SIGKILL) }
            if isTimedOut { throw fault(.timedOut) }
            try Task.checkCancellation()
            throw error
        }
    }

    private func readAll() async throws -> [UInt8] {
        guard let pipe = g_subprocess_get_stdout_pipe(process.opaque) else { return [] }
        var output: [UInt8] = []
        while true {
            let result = await asyncOperation { callback, data in
                g_input_stream_read_bytes_async(
                    pipe, 4096, G_PRIORITY_DEFAULT, cancellable.pointer, callback, data)
            }
            var error: UnsafeMutablePointer<GError>?
            guard let chunk = g_input_stream_read_bytes_finish(pipe, result.pointer, &error) else {
                throw fault(.unreadable(GLibError(taking: error).message))
            }
            defer { g_bytes_unref(chunk) }
            var count: gsize = 0
            guard let start = g_bytes_get_data(chunk, &count), count > 0 else { return output }
            output.append(contentsOf: UnsafeRawBufferPointer(start: start, count: Int(count)))
            if output.count > limit { throw fault(.tooLong(limit: limit)) }
        }
    }

    private func awaitSuccess() async throws {
        let result = await asyncOperation { callback, data in
            g_subprocess_wait_async(process.opaque, cancellable.pointer, callback, data)
        }
        var error: UnsafeMutablePointer<GError>?
        guard g_subprocess_wait_finish(process.opaque, result.pointer, &error) != 0 else {
            throw fault(.unreadable(GLibError(taking: error).message))
        }
        guard g_subprocess_get_if_exited(process.opaque) != 0 else {
            throw fault(.killed(signal: g_subprocess_get_term_sig(process.opaque)))
        }
        let status = g_subprocess_get_exit_status(process.opaque)
        guard status == 0 else { throw fault(.exited(status: status)) }
    }

    private func fault(_ cause: CommandOutput.Fault.Cause) -> CommandOutput.Fault {
        CommandOutput.Fault(command: command, cause: cause)
    }
}
