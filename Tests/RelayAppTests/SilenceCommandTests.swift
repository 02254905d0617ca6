import FoundationEssentials
import GLibRuntime
import Glibc
import RelayCore
import RelayTestKit
import Testing

@testable import RelayApp

/// `silence` against a running relay.
@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct SilenceCommandTests {
    private let folder: TemporaryFolder
    private var state: String { folder.path + "/state" }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func start(_ rules: String, _ more: String...) throws -> RelayProcess {
        try RelayProcess(
            ["run", "--rules", folder.write("rules.json", rules)] + (more.isEmpty ? ["--state", state] : more),
            environment: ["CHIRP_TOKEN": "T", "XDG_RUNTIME_DIR": folder.path], folder: folder)
    }

    @discardableResult
    private func silence(_ words: String..., place: [String]? = nil) async throws -> RelayProcess.Result {
        try await RelayProcess.run(
            ["silence"] + words + (place ?? ["--state", state]),
            environment: ["XDG_RUNTIME_DIR": folder.path, "TZ": "Europe/Berlin"], folder: folder)
    }

    @Test func silencesAreObeyedWithoutARestart() async throws {
        let server = try ScriptedServer()
        let hook = try ScriptedHTTPServer { _ in .send(ScriptedHTTPServer.answer()) }
        defer {
            server.close()
            hook.stop()
        }
        let sinks = #"\#(Rules.stdout), "hook": {"type": "webhook", "url": "\#(hook.url())", "ordered": true}"#
        let process = try start(
            Rules.text(server.url(), sinks: sinks, rules: #"{"name": "all", "to": ["out", "hook"]}"#))
        defer { process.end() }
        await server.connected()
        let added = try await silence("add", "--actor", "ANN", "--for", "2h")
        #expect(added.status == 0 && added.errors.isEmpty)
        #expect(added.output.hasPrefix("silence 1 until ") && added.output.hasSuffix(": actor ANN\n"))
        let bo = Rules.event(2).replacing(#""ann""#, with: #""bo""#)
        server.perform(.text(Rules.event(1)), .text(bo))
        #expect(await process.lines(1).compactMap { Line($0)?.actor } == ["bo"])
        #expect(try await silence("remove", "1").output == "1 silence removed\n")
        server.perform(.text(Rules.event(3)))
        #expect(await process.lines(2).compactMap { Line($0)?.actor } == ["bo", "ann"])
        process.signal(SIGTERM)
        let result = await process.result()
        #expect(result.status == 0)
        for sink in ["out", "hook"] {
            #expect(Counters(of: sink, in: result.errors) == Counters(effects: 3, delivered: 2, suppressed: 1))
        }
        #expect(result.errors.contains("silenced=2"))
    }

    @Test func silencesAreListedAndRemoved() async throws {
        let process = try start(Rules.text("ws://127.0.0.1:9/", sinks: Rules.stdout))
        defer { process.end() }
        await process.errors(containing: "starting")
        #expect(try await silence("list").output == "there are no silences\n")
        // In some months, whatever day it is: an end may be a year away.
        let day = TimestampText.format(SystemClock().wallNow() + .seconds(100 * 86_400)).prefix(10)
        try await silence("add", "--kind", "like", "--post", "p\u{1b}[2J", "--until", "\(day)T02:30")
        let unknown = try await silence("add", "--rule", "al", "--sink", "uot", "--stream", "chrip", "--for", "1h30m")
        #expect(unknown.status == 0)
        for told in [
            #"warning: there is no rule "al"; did you mean "all"?"#,
            #"warning: there is no sink "uot"; did you mean "out"?"#,
            #"warning: there is no stream "chrip"; did you mean "chirp"?"#,
        ] { #expect(unknown.errors.contains(told)) }
        let lines = try await silence("list").output.split(separator: "\n")
        try #require(lines.count == 3)
        #expect(lines[0] == "ID  UNTIL             WHAT")
        #expect(lines[1] == "1   \(day) 02:30  kind like, post p\\u{1b}[2J")
        #expect(lines[2].hasPrefix("2   ") && lines[2].hasSuffix("rule al, sink uot, stream chrip"))
        struct Listed: Decodable {
            var id: Int
            var kind, rule: String?
            var until: String
        }
        let json = try await silence("list", "--json").output.split(separator: "\n").map {
            try JSONDecoder().decode(Listed.self, from: Data($0.utf8))
        }
        #expect(json.map(\.id) == [1, 2] && json.map(\.kind) == ["like", nil] && json.map(\.rule) == [nil, "al"])
        #expect(try await silence("remove", "7").errors == "chirp-relay: there is no silence 7\n")
        #expect(try await silence("remove", "--all").output == "2 silences removed\n")
        #expect(try await silence("list").output == "there are no silences\n")
    }

    @Test func withoutARelayItSaysSo() async throws {
        let result = try await silence("list")
        #expect(result.status == 1)
        #expect(result.errors == "chirp-relay: no relay is running, and \(state) holds no journal\n")
        let usual = try await silence("add", "--kind", "like", "--for", "1h", place: [])
        #expect(usual.status == 1)
        #expect(usual.errors.contains("/.local/state/chirp-relay holds no journal"))
        let memory = try await silence("list", place: ["--no-state"])
        #expect(
            memory.errors
                == "chirp-relay: no relay is running that listens at \(folder.path)/chirp-relay/control.sock\n")
    }

    @Test func aRelayWithoutStateListensInTheRuntimeDirectory() async throws {
        let process = try start(Rules.text("ws://127.0.0.1:9/", sinks: Rules.stdout), "--no-state")
        defer { process.end() }
        await process.errors(containing: "could not be connected")
        for place in [[], ["--no-state"]] {
            #expect(try await silence("list", place: place).output == "there are no silences\n")
        }
        let second = try start(Rules.text("ws://127.0.0.1:9/", sinks: Rules.stdout), "--no-state")
        defer { second.end() }
        let told = "another relay (process \(process.id)) has \(folder.path)/chirp-relay/control.sock"
        #expect(await second.errors(containing: "starting").contains(told))
        second.signal(SIGTERM)
        #expect(await second.result().status == 0)
        #expect(try await silence("list", place: []).status == 0)
    }

    @Test func aStateDirectoryHasOneRelay() async throws {
        let rules = Rules.text("ws://127.0.0.1:9/", sinks: Rules.stdout)
        let first = try start(rules)
        defer { first.end() }
        await first.errors(containing: "starting")
        let second = try start(rules)
        defer { second.end() }
        let refused = await second.result()
        #expect(refused.status == 1)
        #expect(
            refused.errors.contains("process \(first.id) uses the state directory \(state); stop it first"))
        // What a relay left that was killed is no hindrance.
        first.signal(SIGKILL)
        _ = await first.result()
        #expect(access(state + "/control.sock", F_OK) == 0)
        let third = try start(rules)
        defer { third.end() }
        await third.errors(containing: "could not be connected")
        #expect(try await silence("list").status == 0)
    }

    @Test(arguments: [
        ("silence", "say what to do: add, list or remove"),
        ("silence ad", #"there is add, list and remove, not "ad"; did you mean "add"?"#),
        ("silence add --for 1h", "say what to silence: --kind, --actor, --post, --rule, --sink, --stream"),
        ("silence add --kind like", "say when it ends, with one of --for and --until"),
        ("silence add --kind like --for 1h --until tomorrow", "say when it ends, with one of --for and --until"),
        ("silence add --kind like --for long", "--for is a duration such as 90s, 15m, 1h30m or 2d, not \"long\""),
        ("silence add --kind like --until later", "--until is a time such as \"18:00\", \"tomorrow\""),
        ("silence add --kind like --until 1999-01-01T00:00", "lies in the past"),
        ("silence add --json", "--json does not go with add"),
        ("silence add 3", #"add takes no argument "3""#),
        ("silence list --kind like", "--kind does not go with list"),
        ("silence remove", "remove what? give an id, as `silence list` shows it, or --all"),
        ("silence remove 1 --all", "remove what?"),
        ("silence remove first", #"an id is a number, not "first""#),
        ("silence remove 1 2", "2 arguments are enough"),
        ("silence list --state x --no-state", "--state and --no-state exclude each other"),
    ]) func wrongWordsAreUsageFaults(words: String, told: String) async throws {
        let result = try await RelayProcess.run(words.split(separator: " ").map(String.init), folder: folder)
        #expect(result.status == 64 && result.output.isEmpty)
        #expect(result.errors.contains(told))
    }
}
