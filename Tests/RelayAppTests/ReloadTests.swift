import GLibRuntime
import Glibc
import RelayTestKit
import Testing

/// A running relay whose rules file changes.
@Suite(.timeLimit(.minutes(2)))
@MainLoop
struct ReloadTests {
    private typealias Server = ScriptedHTTPServer

    private static let stays = "the rules file cannot be used: the rules stay as they were"
    private static let inForce = "the rules file was read again and is in force"

    private static func titled(_ title: String, name: String = "all") -> String {
        #"{"name": "\#(name)", "to": ["out"], "title": "\#(title)"}"#
    }

    private static func titles(_ lines: [String]) -> [String] { lines.compactMap { Line($0)?.title } }

    // MARK: Wrong files

    /// What becomes of a rules file, and what is told of it.
    struct Wrong: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var told: String
        var spoil: @Sendable (_ folder: TemporaryFolder, _ good: String) -> Void

        init(_ name: String, told: String, _ spoil: @escaping @Sendable (TemporaryFolder, String) -> Void) {
            testDescription = name
            self.told = told
            self.spoil = spoil
        }
    }

    nonisolated static let wrong = [
        Wrong("truncated", told: "is not closed") { folder, good in
            folder.write("rules.json", String(good.prefix(good.count / 2)))
        },
        Wrong("empty", told: "the file is empty") { folder, _ in folder.write("rules.json", "") },
        Wrong("removed", told: "rules.json: open failed: No such file or directory") { folder, _ in
            unlink(folder.path + "/rules.json")
        },
        Wrong("unsafe", told: "rules.json can be written by others") { folder, _ in
            chmod(folder.path + "/rules.json", 0o666)
        },
        Wrong("a folder", told: "rules.json is no regular file") { folder, _ in
            unlink(folder.path + "/rules.json")
            mkdir(folder.path + "/rules.json", 0o700)
        },
        Wrong("an unknown sink in the last rule", told: #"there is no sink "otu"; did you mean "out"?"#) {
            folder, good in
            let end = good.lastIndex(of: "]") ?? good.endIndex
            folder.write("rules.json", good.prefix(upTo: end) + #", {"name": "last", "to": ["otu"]}]}"#)
        },
        Wrong("a missing secret of a new sink", told: "environment variable NOT_SET: is not set (sink \"hook\")") {
            folder, good in
            let sinks = #"{"out": {"type": "stdout"}, "hook": {"type": "webhook", "url": {"env": "NOT_SET"}}}"#
            folder.write("rules.json", good.replacing("{\(Rules.stdout)}", with: sinks))
        },
    ]

    @Test(arguments: wrong) func aWrongFileLeavesTheOldRules(_ wrong: Wrong) async throws {
        let server = try ScriptedServer { _ in [.text(Rules.event(1))] }
        defer { server.close() }
        let rules = Rules.text(server.url(), sinks: Rules.stdout, rules: Self.titled("old"))
        let test = try EndToEnd()
        let result = try await test.relay(rules) { process in
            await process.lines(1)
            wrong.spoil(test.folder, rules)
            process.signal(SIGHUP)
            #expect(await process.errors(containing: Self.stays).contains(wrong.told.replacing("\"", with: "\\\"")))
            server.perform(.text(Rules.event(2)))
            #expect(Self.titles(await process.lines(2)) == ["old", "old"])
        }
        #expect(result.status == 0)
        #expect(!result.errors.contains(Self.inForce))
        #expect(server.connectionCount == 1)
    }

    @Test func rulesFromStandardInputStay() async throws {
        let server = try ScriptedServer()
        defer { server.close() }
        let folder = try TemporaryFolder()
        let process = try RelayProcess(
            ["run", "--rules", "-", "--no-state"], environment: ["CHIRP_TOKEN": "T"],
            input: Rules.text(server.url(), sinks: Rules.stdout), folder: folder)
        defer { process.end() }
        await server.connected()
        process.signal(SIGHUP)
        let told = "the rules are in no file that can be read again: the rules stay as they were"
        #expect(await process.errors(containing: told).contains(told))
        process.signal(SIGTERM)
        #expect(await process.result().status == 0)
    }

    // MARK: Right files

    @Test func everyChangeIsToldByName() async throws {
        let server = try ScriptedServer()
        defer { server.close() }
        let old = Rules.text(server.url(), sinks: Rules.stdout, rules: Self.titled("old"))
        let new = Rules.text(
            server.url(), sinks: #""out": {"type": "stdout", "format": "text"}, "second": {"type": "desktop"}"#,
            rules: #"{"name": "first", "to": ["second"], "continue": true}, \#(Self.titled("new"))"#)
        let test = try EndToEnd()
        let result = try await test.relay(old) { process in
            await server.connected()
            test.folder.write("rules.json", new)
            process.signal(SIGHUP)
            let told = await process.errors(containing: Self.inForce)
            let line = told.split(separator: "\n").last { $0.contains(Self.inForce) }
            #expect(line?.contains(#"sinks="added second; changed out" rules="added first; changed all""#) == true)
            server.perform(.text(Rules.event(1)))
            #expect(await process.lines(1).first?.contains("  new") == true)
        }
        #expect(result.status == 0)
        #expect(server.connectionCount == 1)
    }

    @Test func aFileThatIsReplacedIsReadWithoutASignal() async throws {
        let server = try ScriptedServer()
        defer { server.close() }
        let text = { Rules.text(server.url(), sinks: Rules.stdout, rules: Self.titled($0)) }
        let test = try EndToEnd()
        let result = try await test.relay(text("old")) { process in
            await server.connected()
            let new = test.folder.write("new.json", text("new"))
            #expect(rename(new, test.folder.path + "/rules.json") == 0)
            await process.errors(containing: Self.inForce)
            server.perform(.text(Rules.event(1)))
            #expect(Self.titles(await process.lines(1)) == ["new"])
        }
        #expect(result.status == 0)
    }

    @Test func signalsThatComeTogetherAreObeyedTogether() async throws {
        let server = try ScriptedServer()
        defer { server.close() }
        let test = try EndToEnd()
        let result = try await test.relay(Rules.text(server.url(), sinks: Rules.stdout, rules: Self.titled("old"))) {
            process in
            await server.connected()
            for title in ["new", "newer", "newest"] {
                let new = Rules.text(server.url(), sinks: Rules.stdout, rules: Self.titled(title, name: title))
                // Replaced at once: a half written file would be told as wrong.
                #expect(rename(test.folder.write("new", new), test.folder.path + "/rules.json") == 0)
                for _ in 0..<5 { process.signal(SIGHUP) }
            }
            await process.errors(containing: "added newest")
            server.perform(.text(Rules.event(1)))
            #expect(Self.titles(await process.lines(1)) == ["newest"])
        }
        #expect(result.status == 0)
        #expect(!result.errors.contains(Self.stays))
    }

    @Test func aChangedStreamIsDialledAnewAndKnowsWhatItHasSeen() async throws {
        let server = try ScriptedServer { _ in [.text(Rules.event(1)), .text(Rules.event(2))] }
        defer { server.close() }
        let test = try EndToEnd()
        let result = try await test.relay(Rules.text(server.url(), sinks: Rules.stdout)) { process in
            await process.lines(2)
            test.folder.write("rules.json", Rules.text(server.url(), stream: #", "ping": "20s""#, sinks: Rules.stdout))
            process.signal(SIGHUP)
            _ = await server.next { $0 == .close(1001, "the relay stops") ? true : nil }
            await server.connected()
            server.perform(.text(Rules.event(3)))
            #expect(await process.lines(3).compactMap { Line($0)?.id.suffix(1) } == ["1", "2", "3"])
        }
        #expect(result.status == 0)
        #expect(server.connectionCount == 2)
        #expect(result.errors.contains("events=5 repeated=2"))
    }

    @Test func streamsComeAndGo() async throws {
        let first = try ScriptedServer { _ in [.text(Rules.event(1))] }
        let second = try ScriptedServer { _ in [.text(Rules.event(2))] }
        defer {
            first.close()
            second.close()
        }
        let test = try EndToEnd()
        let old = Rules.text(first.url(), sinks: Rules.stdout)
        let result = try await test.relay(old) { process in
            await process.lines(1)
            test.folder.write(
                "rules.json", Rules.text(second.url(), sinks: Rules.stdout).replacing("chirp", with: "other"))
            process.signal(SIGHUP)
            #expect(await process.lines(2).compactMap { Line($0)?.stream } == ["chirp", "other"])
            _ = await first.next { if case .close(1001, _) = $0 { true } else { nil } }
        }
        #expect(result.status == 0)
        #expect(result.errors.contains(#"streams="added other; removed chirp""#))
        #expect(result.errors.contains("events=2 repeated=0"))
    }

    // MARK: Sinks

    private static func hook(_ server: ScriptedHTTPServer, more: String = "") -> String {
        #""hook": {"type": "webhook", "url": "\#(server.url("/hook"))", "ordered": true\#(more)}"#
    }

    private static let toHook = #"{"name": "all", "to": ["hook"]}"#

    private static func requests(_ server: ScriptedHTTPServer, _ count: Int) async {
        var seen = 0
        for await event in server.events {
            if case .request = event { seen += 1 }
            if seen == count { return }
        }
    }

    @Test func aChangedSinkTakesOverWhatItsFormerSelfCouldNotDeliver() async throws {
        let server = try ScriptedServer { _ in [.text(Rules.event(1)), .text(Rules.event(2))] }
        let old = try Server { _ in .hang }
        let new = try Server { _ in .send(Server.answer()) }
        defer {
            server.close()
            old.stop()
            new.stop()
        }
        let test = try EndToEnd()
        let timeout = #", "timeout": "500ms""#
        let result = try await test.relay(
            Rules.text(server.url(), sinks: Self.hook(old, more: timeout), rules: Self.toHook)
        ) { process in
            await Self.requests(old, 1)
            test.folder.write("rules.json", Rules.text(server.url(), sinks: Self.hook(new), rules: Self.toHook))
            process.signal(SIGHUP)
            await Self.requests(new, 2)
            server.perform(.text(Rules.event(3)))
            await Self.requests(new, 1)
        }
        #expect(result.status == 0)
        #expect(old.requests.count == 1)
        #expect(
            new.requests.compactMap { Line(String(decoding: $0.body, as: UTF8.self))?.id.suffix(1) } == ["1", "2", "3"])
        #expect(new.requests.first?.header("webhook-id") == old.requests.first?.header("webhook-id"))
        #expect(Counters(of: "hook", in: result.errors) == Counters(effects: 3, delivered: 3))
    }

    @Test func anUntouchedSinkKeepsItsConnection() async throws {
        let server = try ScriptedServer { _ in [.text(Rules.event(1))] }
        let hook = try Server { _ in .send(Server.answer()) }
        defer {
            server.close()
            hook.stop()
        }
        let test = try EndToEnd()
        let result = try await test.relay(Rules.text(server.url(), sinks: Self.hook(hook), rules: Self.toHook)) {
            process in
            await Self.requests(hook, 1)
            test.folder.write(
                "rules.json",
                Rules.text(server.url(), sinks: "\(Self.hook(hook)), \(Rules.stdout)", rules: Self.toHook))
            process.signal(SIGHUP)
            await process.errors(containing: Self.inForce)
            server.perform(.text(Rules.event(2)))
            await Self.requests(hook, 1)
        }
        #expect(result.status == 0)
        #expect(hook.connectionCount == 1)
    }

    @Test func deliveriesOfARemovedSinkStayPending() async throws {
        let server = try ScriptedServer { _ in [.text(Rules.event(1)), .text(Rules.event(2))] }
        let hook = try Server { _ in .send(Server.answer("503 Busy")) }
        defer {
            server.close()
            hook.stop()
        }
        let test = try EndToEnd()
        let result = try await test.relay(
            Rules.text(server.url(), sinks: "\(Self.hook(hook)), \(Rules.stdout)", rules: Self.toHook)
        ) { process in
            await Self.requests(hook, 1)
            test.folder.write("rules.json", Rules.text(server.url(), sinks: Rules.stdout))
            process.signal(SIGHUP)
            await process.errors(containing: "deliveries of a sink that is not in the rules file wait")
            server.perform(.text(Rules.event(3)))
            await process.lines(1)
        }
        #expect(result.status == 0)
        #expect(Counters(of: "hook", in: result.errors) == Counters(effects: 2, pending: 2))
        #expect(Counters(of: "out", in: result.errors) == Counters(effects: 1, delivered: 1))
        #expect(result.errors.contains(#"msg="not sent and lost, since the journal is in memory" sink=hook count=2"#))
    }

    /// Relays the event 1 to a webhook whose address is the secret in the file `url`.
    private func relay(
        toSecret hook: Server, _ path: String,
        _ body: (EndToEnd, RelayProcess, ScriptedServer) async throws -> Void
    ) async throws -> RelayProcess.Result {
        let server = try ScriptedServer { _ in [.text(Rules.event(1))] }
        defer {
            server.close()
            hook.stop()
        }
        let test = try EndToEnd()
        test.folder.write("url", hook.url(path))
        let sink = #""hook": {"type": "webhook", "url": {"file": "url"}}"#
        return try await test.relay(Rules.text(server.url(), sinks: sink, rules: Self.toHook)) { process in
            try await body(test, process, server)
        }
    }

    @Test func aChangedSecretIsAChange() async throws {
        let hook = try Server { _ in .send(Server.answer()) }
        let result = try await relay(toSecret: hook, "/first") { test, process, server in
            await Self.requests(hook, 1)
            test.folder.write("url", hook.url("/second"))
            process.signal(SIGHUP)
            await process.errors(containing: "secrets changed")
            server.perform(.text(Rules.event(2)))
            await Self.requests(hook, 1)
            unlink(test.folder.file("url"))
            process.signal(SIGHUP)
            await process.errors(containing: "the sink keeps the one it has")
        }
        #expect(result.status == 0)
        #expect(hook.requests.map(\.target) == ["/first", "/second"])
    }

    @Test func aChangedSecretFileStartsAStoppedSink() async throws {
        let hook = try Server { .send(Server.answer($0.target == "/gone" ? "410 Gone" : "204 Fine")) }
        let result = try await relay(toSecret: hook, "/gone") { test, process, _ in
            await process.errors(containing: "the sink is stopped")
            test.folder.write("url", hook.url("/here"))
            await process.errors(containing: "secrets changed and are in force")
            await Self.requests(hook, 2)
        }
        #expect(result.status == 0)
        #expect(hook.requests.map(\.target) == ["/gone", "/here"])
        #expect(Set(hook.requests.map { $0.header("webhook-id") }).count == 1)
    }
}
