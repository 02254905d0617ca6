import FoundationEssentials
import GLibRuntime
import Glibc
import RelayTestKit
import Testing
import WebSocketCodec

/// One JSON line of standard output, or the body of a webhook.
struct Line: Decodable, Equatable {
    var id, kind: String
    var actor, post: String?
    var createdAt, stream, rule, title, body: String
    var link: String?

    /// Decodes a line; nil if it is none.
    init?(_ text: some StringProtocol) {
        guard let line = try? JSONDecoder().decode(Line.self, from: Data(text.utf8)) else { return nil }
        self = line
    }
}

extension ScriptedServer {
    /// A server that demands the token `T` and runs `steps` on each connection, by its number from 1.
    convenience init(token: String = "T", _ steps: @escaping @MainLoop (Int) -> [Step] = { _ in [] }) throws {
        try self.init { number, head in
            head.values(of: "Authorization") == ["Bearer \(token)"]
                ? Script(.accept, steps(number)) : Script(.refuse(401))
        }
    }

    /// Returns the first record that `pick` takes.
    func next<Value: Sendable>(_ pick: (Record) -> Value?) async -> Value? {
        for await record in records {
            if let value = pick(record) { return value }
        }
        return nil
    }

    /// Returns when a connection has been asked for.
    func connected() async {
        _ = await next { if case .request = $0 { true } else { nil } }
    }
}

extension ScriptedHTTPServer {
    /// Returns when `isMet` holds, which only requests can bring about.
    @MainLoop
    func requested(until isMet: () -> Bool) async {
        if isMet() { return }
        for await _ in events where isMet() { return }
    }
}

extension ScriptedServer.Step {
    /// Sends a binary message.
    static func binary(_ bytes: some Sequence<UInt8>) -> Self {
        var frame: [UInt8] = []
        FrameEncoder.append(.binary, Array(bytes), maskedWith: nil, to: &frame)
        return .raw(frame)
    }

    /// Sends a text message that need not be text.
    static func badText(_ bytes: some Sequence<UInt8>) -> Self {
        var frame: [UInt8] = []
        FrameEncoder.append(.text, Array(bytes), maskedWith: nil, to: &frame)
        return .raw(frame)
    }
}

/// Runs the real program with a rules file of a test.
struct EndToEnd {
    let folder: TemporaryFolder
    var environment = ["CHIRP_TOKEN": "T"]

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Starts `run` with these rules, at the most verbose level.
    func start(_ rules: String, readsOutput: Bool = true) throws -> RelayProcess {
        let path = folder.write("rules.json", rules)
        return try RelayProcess(
            ["run", "--rules", path, "--no-state", "--log-level", "trace"], environment: environment, folder: folder,
            readsOutput: readsOutput)
    }

    /// Runs `body` beside the program, ends the program as a service manager does and returns what it said.
    func relay(
        _ rules: String, body: (RelayProcess) async throws -> Void
    ) async throws -> RelayProcess.Result {
        let process = try start(rules)
        defer { process.end() }
        try await body(process)
        process.signal(SIGTERM)
        return await process.result()
    }
}
