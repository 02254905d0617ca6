internal import GLibRuntime
internal import Glibc

/// The built program in a process of its own, with an environment that holds nothing of the user's.
///
/// What it prints is kept and can be awaited. `end` kills it if it still runs.
package final class RelayProcess: Sendable {
    /// Which of its two outputs.
    package enum Output: Int, Sendable {
        case standard, error
    }

    /// How it ended and what it said.
    package struct Result: Sendable {
        /// The exit status; 128 and the signal's number after a signal.
        package var status: Int32
        /// Standard output.
        package var output: String
        /// Standard error.
        package var errors: String
        /// Both.
        package var all: String { output + errors }
    }

    private struct Watcher {
        var output: Output
        var isWanted: @Sendable (State) -> Bool
        var continuation: CheckedContinuation<String, Never>
    }

    private struct State {
        var bytes: [[UInt8]] = [[], []]
        var lines = [0, 0]
        var isOver = [false, false]
        var status: Int32?
        var watchers: [Watcher] = []
        var enders: [CheckedContinuation<Void, Never>] = []

        func text(_ output: Output) -> String { String(decoding: bytes[output.rawValue], as: UTF8.self) }
        var hasEnded: Bool { status != nil && !isOver.contains(false) }
    }

    /// Its process id.
    package let id: Int32
    private let standardOutput: Int32
    /// Kept as long as the program may read from it.
    private let folder: TemporaryFolder
    private let state = Locked(State())

    /// Starts the program with these arguments.
    ///
    /// `environment` is added to `PATH`, a home in `folder` and a bus address at which nobody is; `input` is what it finds
    /// on standard input, which `hasInput` false closes. Standard output is read from the start, or with `readsOutput`
    /// false by `readOutput`. `launcher` are the words of a command that executes the program.
    ///
    /// - Throws: the number of the system call's failure.
    package init(
        _ arguments: [String], environment: [String: String] = [:], input: String = "", folder: TemporaryFolder,
        hasInput: Bool = true, readsOutput: Bool = true, launcher: [String] = []
    ) throws {
        var variables = [
            "PATH": "/usr/bin:/bin", "HOME": folder.path, "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder.path)/no-bus",
        ]
        variables.merge(environment) { $1 }
        // A program built for a sanitizer needs to know what it is to pass over.
        variables["TSAN_OPTIONS"] = getenv("TSAN_OPTIONS").map { String(cString: $0) }
        let inputPath = folder.write("stdin", input)
        let (out, err) = (try Self.pipe(), try Self.pipe())
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, inputPath, O_RDONLY, 0)
        if !hasInput { posix_spawn_file_actions_addclose(&actions, 0) }
        posix_spawn_file_actions_adddup2(&actions, out.write, 1)
        posix_spawn_file_actions_adddup2(&actions, err.write, 2)
        // What other tests have open stays theirs: an inherited end would keep their pipes and connections open.
        for descriptor in 3..<Self.mostDescriptors { posix_spawn_file_actions_addclose(&actions, descriptor) }
        let command = launcher + [Self.program] + arguments
        let words = command.map { strdup($0) } + [nil]
        let pairs = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + pairs { free(word) } }
        var id = pid_t()
        let code = posix_spawn(&id, command[0], &actions, nil, words, pairs)
        close(out.write)
        close(err.write)
        guard code == 0 else { throw Failure(number: code) }
        self.id = id
        self.folder = folder
        standardOutput = out.read
        if readsOutput { readOutput() }
        TestThread.start { [self] in read(err.read, .error) }
        TestThread.start { [self] in awaitEnd() }
    }

    /// Runs the program to its end.
    package static func run(
        _ arguments: [String], environment: [String: String] = [:], input: String = "", folder: TemporaryFolder,
        launcher: [String] = []
    ) async throws -> Result {
        let process = try RelayProcess(
            arguments, environment: environment, input: input, folder: folder, launcher: launcher)
        return await process.result()
    }

    /// Begins to read standard output.
    package func readOutput() {
        TestThread.start { [self] in read(standardOutput, .standard) }
    }

    /// Goes away as a reader of standard output that was not read, so that the pipe breaks.
    package func closeOutput() {
        close(standardOutput)
        update { $0.isOver[Output.standard.rawValue] = true }
    }

    /// What an output brought so far.
    package func text(_ output: Output) -> String { state.withLock { $0.text(output) } }

    /// Returns an output as soon as `isWanted` holds for it, or when it has ended.
    @discardableResult
    package func text(_ output: Output, until isWanted: @escaping @Sendable (String) -> Bool) async -> String {
        await text(output) { state in isWanted(state.text(output)) }
    }

    private func text(_ output: Output, until isWanted: @escaping @Sendable (State) -> Bool) async -> String {
        await withCheckedContinuation { continuation in
            update { $0.watchers.append(Watcher(output: output, isWanted: isWanted, continuation: continuation)) }
        }
    }

    /// Returns standard error as soon as it contains `text`, or when it has ended.
    @discardableResult
    package func errors(containing text: String) async -> String {
        await self.text(.error) { $0.contains(text) }
    }

    /// Returns standard output as soon as it has `count` lines, or when it has ended.
    @discardableResult
    package func lines(_ count: Int) async -> [String] {
        let text = await text(.standard) { (state: State) in state.lines[Output.standard.rawValue] >= count }
        return text.split(separator: "\n").map(String.init)
    }

    /// Sends a signal.
    package func signal(_ number: Int32) {
        kill(id, number)
    }

    /// Awaits the end.
    package func result() async -> Result {
        await withCheckedContinuation { continuation in
            update { $0.enders.append(continuation) }
        }
        return state.withLock { Result(status: $0.status ?? -1, output: $0.text(.standard), errors: $0.text(.error)) }
    }

    /// Kills the program if it runs.
    package func end() {
        if state.withLock({ $0.status == nil }) { signal(SIGKILL) }
    }

    // MARK: Threads

    private struct Failure: Error { var number = errno }

    /// Closing what is not open is no error of posix_spawn(3).
    private static let mostDescriptors: Int32 = 512

    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw Failure() }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// The path of the built program, which stands beside the tests.
    package static var program: String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes {
            $0.baseAddress.map { readlink("/proc/self/exe", $0, 4096) } ?? 0
        }
        let bundle = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return bundle.split(separator: "/").dropLast().map { "/\($0)" }.joined()
            + "/chirp-relay"
    }

    private func read(_ descriptor: Int32, _ output: Output) {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            update { state in
                state.bytes[output.rawValue] += chunk[..<count]
                state.lines[output.rawValue] += chunk[..<count].count { $0 == UInt8(ascii: "\n") }
            }
        }
        close(descriptor)
        update { $0.isOver[output.rawValue] = true }
    }

    private func awaitEnd() {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        update { $0.status = signal == 0 ? (status >> 8) & 0xFF : 128 + signal }
    }

    /// Changes the state and resumes everybody who waited for that.
    private func update(_ change: (inout State) -> Void) {
        let (watchers, enders) = state.withLock { state in
            change(&state)
            let watchers = state.watchers
            let isReady = watchers.map { watcher in
                state.isOver[watcher.output.rawValue] || watcher.isWanted(state)
            }
            state.watchers = zip(watchers, isReady).filter { !$1 }.map(\.0)
            let ready = zip(watchers, isReady).filter(\.1).map { ($0.0.continuation, state.text($0.0.output)) }
            guard state.hasEnded else { return (ready, [CheckedContinuation<Void, Never>]()) }
            defer { state.enders = [] }
            return (ready, state.enders)
        }
        for (continuation, text) in watchers { continuation.resume(returning: text) }
        for ender in enders { ender.resume() }
    }
}

/// A thread for calls that block.
enum TestThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    static func start(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Body(body)).toOpaque()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context)
        if code == 0 { pthread_detach(thread) }
    }
}
