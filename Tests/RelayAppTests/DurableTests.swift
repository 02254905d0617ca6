import GLibRuntime
import Glibc
import RelayCore
import RelayTestKit
import Testing

@testable import RelayApp

/// What was accepted is delivered, whatever becomes of the process.
@Suite(.timeLimit(.minutes(2)))
@MainLoop
struct DurableTests {
    private let folder: TemporaryFolder
    private var state: String { folder.path + "/state" }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func start(_ rules: String) throws -> RelayProcess {
        try RelayProcess(
            ["run", "--rules", folder.write("rules.json", rules), "--state", state],
            environment: ["CHIRP_TOKEN": "T"], folder: folder)
    }

    private func command(_ words: String...) async throws -> RelayProcess.Result {
        try await RelayProcess.run(
            words + ["--state", state], environment: ["CHIRP_RELAY_RULES": folder.path + "/rules.json"], folder: folder)
    }

    /// A webhook whose answer can change.
    private final class Hook: Sendable {
        let server: ScriptedHTTPServer
        let answer: Locked<String>

        init(_ status: String) throws {
            let answer = Locked(status)
            self.answer = answer
            server = try ScriptedHTTPServer { _ in
                .send(ScriptedHTTPServer.answer(answer.withLock { $0 }))
            }
        }

        var requests: [ScriptedHTTPServer.Request] { server.requests }
        var sink: String { #""hook": {"type": "webhook", "url": "\#(server.url())"}"# }

        /// Returns when it has seen requests of which `isWanted` holds.
        @MainLoop
        func requests(until isWanted: ([ScriptedHTTPServer.Request]) -> Bool) async {
            await server.requested { isWanted(server.requests) }
        }
    }

    private static let toHook = #"{"name": "all", "to": ["hook"]}"#

    @Test func whatWasAcceptedBeforeAKillGoesOutAfterIt() async throws {
        let server = try ScriptedServer { _ in [.text(Rules.event(1))] }
        let hook = try Hook("500 Oops")
        defer {
            server.close()
            hook.server.stop()
        }
        let rules = Rules.text(server.url(), sinks: hook.sink, rules: Self.toHook)
        let first = try start(rules)
        defer { first.end() }
        await hook.requests { !$0.isEmpty }
        first.signal(SIGKILL)
        _ = await first.result()
        let before = hook.requests
        hook.answer.withLock { $0 = "204 Fine" }
        let second = try start(rules)
        defer { second.end() }
        await hook.requests { $0.count > before.count }
        second.signal(SIGTERM)
        let ended = await second.result()
        #expect(ended.status == 0)
        // The event came again with the second connection, and is known.
        #expect(Counters(of: "hook", in: ended.errors) == Counters(effects: 1, delivered: 1, suppressed: 0))
        #expect(Set(hook.requests.map { $0.header("webhook-id") }).count == 1)
        #expect(Set(hook.requests.map(\.body)).count == 1)
    }

    @Test func aRefusedDeliveryIsListedShownAndSentAgain() async throws {
        let server = try ScriptedServer { _ in [.text(Rules.event(1, more: #","text":"hello""#))] }
        let hook = try Hook("400 Bad")
        defer {
            server.close()
            hook.server.stop()
        }
        let rules = Rules.text(server.url(), sinks: hook.sink, rules: Self.toHook)
        let process = try start(rules)
        defer { process.end() }
        await process.errors(containing: "a delivery was refused and is dead")
        // Beside the running relay.
        let rows = try await command("outbox", "list").output.split(separator: "\n")
        #expect(rows.count == 2 && rows[0].hasPrefix("ID  SINK  STATE  AGE  TRIES  WHAT"))
        #expect(rows.last?.contains("hook  dead") == true && rows.last?.contains("400") == true)
        let id = String(rows.last?.prefix { $0 != " " } ?? "")
        let page = try await command("outbox", "show", id).output
        #expect(page.contains("rule:      all\n") && page.contains("state:     dead since ") && page.contains("key: "))
        #expect(try await command("outbox", "list", "--pending").output == "the outbox holds nothing of that kind\n")
        #expect(try await command("outbox", "show", "999").status == 1)
        process.signal(SIGTERM)
        #expect(await process.result().status == 0)
        // Without a relay.
        hook.answer.withLock { $0 = "200 OK" }
        let before = hook.requests.count
        #expect(try await command("outbox", "retry", id).output == "1 delivery to be sent again\n")
        #expect(try await command("outbox", "list", "--dead").output == "the outbox holds nothing of that kind\n")
        let second = try start(rules)
        defer { second.end() }
        await hook.requests { $0.count > before }
        second.signal(SIGTERM)
        let ended = await second.result()
        #expect(Counters(of: "hook", in: ended.errors) == Counters(effects: 1, delivered: 1, suppressed: 0))
    }

    @Test func whatIsDroppedIsCountedAsDead() async throws {
        let server = try ScriptedServer { _ in [.text(Rules.event(1)), .text(Rules.event(2))] }
        let hook = try Hook("500 Oops")
        defer {
            server.close()
            hook.server.stop()
        }
        let process = try start(Rules.text(server.url(), sinks: hook.sink, rules: Self.toHook))
        defer { process.end() }
        await hook.requests { $0.count >= 2 }
        process.signal(SIGTERM)
        let ended = await process.result()
        #expect(ended.errors.contains("they are sent after the next start") && ended.errors.contains("count=2"))
        #expect(try await command("outbox", "drop", "--sink", "hook").output == "2 deliveries dropped\n")
        let json = try await command("outbox", "list", "--json").output.split(separator: "\n")
        #expect(json.count == 2 && json.allSatisfy { $0.contains(#""state":"dead""#) })
        #expect(json.allSatisfy { $0.contains(#""error":"dropped by hand""#) })
    }

    @Test func aSilenceIsAddedWithoutARelayAndObeyedByTheNext() async throws {
        let server = try ScriptedServer { _ in [.text(Rules.event(1)), .text(Rules.event(2, kind: "comment"))] }
        let hook = try Hook("200 OK")
        defer {
            server.close()
            hook.server.stop()
        }
        let rules = Rules.text(server.url(), sinks: hook.sink, rules: Self.toHook)
        // The first one makes the journal.
        let first = try start(Rules.text("ws://127.0.0.1:9/", sinks: hook.sink, rules: Self.toHook))
        defer { first.end() }
        await first.errors(containing: "starting")
        first.signal(SIGTERM)
        #expect(await first.result().status == 0)
        #expect(
            try await command("silence", "add", "--kind", "like", "--for", "2h").output.hasPrefix("silence 1 until "))
        let second = try start(rules)
        defer { second.end() }
        await hook.requests { !$0.isEmpty }
        #expect(try await command("silence", "list").output.contains("kind like"))
        second.signal(SIGTERM)
        let ended = await second.result()
        #expect(Counters(of: "hook", in: ended.errors) == Counters(effects: 2, delivered: 1, suppressed: 1))
    }

    @Test(arguments: [true, false]) func everyEventIsRecordedIfTheHistoryWantsAll(_ all: Bool) async throws {
        let events = [
            Rules.event(1), Rules.event(2, kind: "comment"), Rules.event(3, kind: "follow"),
            Rules.event(4, kind: "share"),
        ]
        let server = try ScriptedServer { _ in events.map { .text($0) } }
        let hook = try Hook("204 Fine")
        defer {
            server.close()
            hook.server.stop()
        }
        let rules = Rules.text(
            server.url(), sinks: "\(hook.sink), \(Rules.stdout)",
            rules: """
                {"name": "log", "when": {"kind": ["like", "comment"]}, "to": ["out"], "continue": true},
                {"name": "hook", "when": {"kind": "comment"}, "to": ["hook"]},
                {"name": "no follows", "when": {"kind": "follow"}, "drop": true}
                """)
        let process = try start(rules.replacing("\"streams\":", with: "\"history\": {\"all\": \(all)}, \"streams\":"))
        defer { process.end() }
        await process.lines(2)
        await hook.requests { !$0.isEmpty }
        // What is not recorded is still in memory.
        let follow = try await command("explain", Rules.id(3)).output
        #expect(follow.contains("  no follows: suppressed: dropped\n"), "\(follow)")
        #expect(follow.contains("not recorded") == !all && follow.contains("By the rules as they are now"))
        let like = try await command("explain", Rules.id(1), "--stream", "chirp", "--json").output
        #expect(
            like.contains(#""number":null"#) == !all && like.contains(#""sink":"out","outcome":"passed""#), "\(like)")
        #expect(try await command("explain", Rules.id(1), "--stream", "other").status == 1)
        process.signal(SIGTERM)
        #expect(await process.result().status == 0)
        let shown = try await command("history", "list").output
        func outcome(_ kind: String) -> Bool { shown.contains(kind) }
        // Without `all`, only what the journal delivers is recorded, with what went past it.
        #expect(["like", "follow", "share"].map(outcome) == [all, all, all], "\(shown)")
        let story = try await command("explain", Rules.id(2)).output
        #expect(story.contains("log -> out: passed to the sink right away, without the journal"), "\(story)")
        #expect(story.contains("hook -> hook: delivered"), "\(story)")
        let dropped = try await command("explain", Rules.id(3))
        #expect(dropped.output.contains("no follows") == all, "\(dropped)")
        #expect(all || dropped.errors.contains("\"all\": true"), "\(dropped)")
    }

    @Test func whatWaitsForASinkThatIsNotInTheFileIsToldAndDiesOfAge() async throws {
        let (sinks, toTeam) = (
            #""team": {"type": "webhook", "url": "http://127.0.0.1:9/"}"#, #"{"name": "all", "to": ["team"]}"#
        )
        let now = SystemClock().wallNow()
        func event(_ id: Int, hoursAgo hours: Int) -> String {
            let createdAt = TimestampText.format(now + .seconds(-3600 * hours))
            return Rules.event(id).replacing("2030-01-02T03:04:05Z", with: createdAt)
        }
        let former = try await RecordedRelay(
            Rules.text("ws://127.0.0.1:9/", sinks: sinks, rules: toTeam), in: folder, at: now + .seconds(-50 * 3600))
        try await former.receive([event(1, hoursAgo: 49), event(2, hoursAgo: 1)].joined(separator: "\n"))
        await former.close()
        let process = try start(Rules.text("ws://127.0.0.1:9/", sinks: Rules.stdout))
        defer { process.end() }
        await process.errors(containing: "deliveries grew too old while they waited and are dead")
        process.signal(SIGTERM)
        let errors = await process.result().errors
        #expect(errors.contains("outbox retry --to`\" sink=team count=2 deadAfter=2d"), "\(errors)")
        #expect(errors.contains("they waited and are dead\" sink=team count=1"), "\(errors)")
        #expect(Counters(of: "team", in: errors) == Counters(effects: 2, pending: 1, dead: 1))
    }

    @Test(arguments: [
        ("outbox", "say what to do: list, show, retry or drop"),
        ("outbox lst", #"there is list, show, retry and drop, not "lst"; did you mean "list"?"#),
        ("outbox retry", "retry what? give ids, --sink, --older-than, or --all"),
        ("outbox drop 1 --to x", "--to does not go with drop"),
        ("outbox show", "show which one? give its id"),
        ("outbox show one", "an id is a number, as `outbox list` shows it, not \"one\""),
        ("outbox list --pending --dead", "--pending and --dead exclude each other"),
        ("outbox list --older-than long", "--older-than is a duration such as 90s, 15m, 1h30m or 2d, not \"long\""),
        ("outbox list --limit 0", "--limit is a number from 1 to 100000, not \"0\""),
    ])
    func wrongWordsAreRefused(_ words: String, _ told: String) async throws {
        let result = try await RelayProcess.run(words.split(separator: " ").map(String.init), folder: folder)
        #expect(result.status == 64 && result.errors.contains(told), "\(result.errors)")
    }
}
