import Glibc
import RelayTestKit
import Testing

/// A state directory that cannot be used is told with what to do about it.
@Suite(.timeLimit(.minutes(1)))
struct PermissionTests {
    private let folder: TemporaryFolder
    private var state: String { folder.file("state") }
    private let rules: String

    init() throws {
        folder = try TemporaryFolder()
        // Another user must get at the rules.
        chmod(folder.path, 0o755)
        let text = Rules.text(
            "ws://127.0.0.1:9/", sinks: #""hook": {"type": "webhook", "url": "http://127.0.0.1:9/"}"#,
            rules: #"{"name": "all", "to": ["hook"]}"#)
        rules = folder.write("rules.json", text, mode: 0o644)
    }

    // MARK: As a user who may not

    /// Permissions do not bind root, as which the tests may run: then the program runs as the user `nobody`.
    private static let launcher =
        geteuid() == 0 ? ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []

    /// Whether the program can be started so.
    private static func canBeOther() async throws -> Bool {
        guard launcher.isEmpty || access(launcher[0], X_OK) == 0 else { return false }
        let told = try await RelayProcess.run(["--version"], folder: try TemporaryFolder(), launcher: launcher)
        return told.status == 0
    }

    private func run(_ words: String...) async throws -> RelayProcess.Result {
        try await RelayProcess.run(
            words, environment: ["CHIRP_TOKEN": "T", "CHIRP_RELAY_RULES": rules], folder: folder,
            launcher: Self.launcher)
    }

    /// What stands in the way, and how the directory gets so.
    enum Obstacle: CaseIterable {
        case parent, directory, lock, database, readableDatabase
    }

    /// Makes the state directory, and what is in it, of the user who is to be kept out; with a journal if there is one.
    private func put(_ obstacle: Obstacle) async throws {
        guard obstacle != .parent else {
            chmod(folder.path, 0o555)
            return
        }
        mkdir(state, 0o700)
        // A relay that ran as root by mistake leaves files of root.
        if obstacle != .directory { try await leaveJournal() }
        if Self.launcher.isEmpty { return keepSelfOut(obstacle) }
        guard obstacle != .directory else {
            chmod(state, 0o755)
            return
        }
        chown(state, 65534, 65534)
        if obstacle != .lock { unlink(state + "/lock") }
        unlink(state + "/control.sock")
        if obstacle == .readableDatabase { chmod(state + "/journal.db", 0o644) }
    }

    /// The same for who is no other user.
    private func keepSelfOut(_ obstacle: Obstacle) {
        switch obstacle {
        case .parent: break
        case .directory: chmod(state, 0o500)
        case .lock: chmod(state + "/lock", 0)
        case .database: chmod(state + "/journal.db", 0)
        case .readableDatabase: chmod(state + "/journal.db", 0o400)
        }
    }

    private func leaveJournal() async throws {
        let process = try RelayProcess(
            ["run", "--rules", rules, "--state", state], environment: ["CHIRP_TOKEN": "T"], folder: folder)
        await process.errors(containing: "starting")
        process.signal(SIGTERM)
        #expect(await process.result().status == 0)
    }

    @Test(
        .enabled("needs a program that other users can start, and setpriv for root") { try await canBeOther() },
        arguments: Obstacle.allCases)
    func whoMayNotWriteIsToldWhatToDo(_ obstacle: Obstacle) async throws {
        try await put(obstacle)
        let result = try await run("run", "--state", state)
        #expect(result.status == 1 && result.output.isEmpty)
        let told = result.errors
        let place = obstacle == .database || obstacle == .readableDatabase ? state + "/journal.db" : state
        #expect(told.contains(place) && told.contains("Permission denied"), "\(told)")
        #expect(told.contains("--state") && told.contains("--no-state"), "\(told)")
        #expect(told.split(separator: "\n").count == 1, "\(told)")
    }

    @Test(.enabled("needs a program that other users can start, and setpriv for root") { try await canBeOther() })
    func whoMayNotReadIsToldWhatToDo() async throws {
        try await put(.database)
        for words in [["outbox", "list"], ["history", "list"], ["explain", "e1"], ["replay", "--rules", rules]] {
            let result = try await RelayProcess.run(
                words + ["--state", state], environment: ["CHIRP_RELAY_RULES": rules], folder: folder,
                launcher: Self.launcher)
            #expect(result.status == 1, "\(words)")
            #expect(result.errors.contains("\(state)/journal.db cannot be read"), "\(result.errors)")
            #expect(result.errors.contains("as the user of the relay"), "\(result.errors)")
        }
    }

    @Test(.enabled("needs a program that other users can start, and setpriv for root") { try await canBeOther() })
    func withoutStateItRunsAllTheSame() async throws {
        try await put(.parent)
        let process = try RelayProcess(
            ["run", "--rules", rules, "--no-state"], environment: ["CHIRP_TOKEN": "T"], folder: folder,
            launcher: Self.launcher)
        defer { process.end() }
        #expect(await process.errors(containing: "starting").contains("starting"))
        process.signal(SIGTERM)
        #expect(await process.result().status == 0)
    }

    // MARK: On a disk that nobody may write

    @Test(.enabled(if: SmallDisk.canMount, "mounting a file system needs root"))
    func aReadOnlyFileSystemIsTold() async throws {
        let disk = try SmallDisk(megabytes: 1)
        try #require(disk.becomeReadOnly())
        for path in [disk.path, disk.path + "/state"] {
            let result = try await RelayProcess.run(
                ["run", "--rules", rules, "--state", path], environment: ["CHIRP_TOKEN": "T"], folder: folder)
            #expect(result.status == 1)
            #expect(result.errors.contains(path) && result.errors.contains("Read-only file system"))
            #expect(result.errors.contains("--no-state"), "\(result.errors)")
        }
    }
}
