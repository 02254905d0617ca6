import GLibRuntime
import RelayCore
import RelayTestKit
import Testing

@testable import RelayApp

/// What `contrib/docs/history.md` shows is what happens.
@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct HistoryDocumentTests {
    private let folder: TemporaryFolder
    private let blocks: [Document.Block]

    init() throws {
        folder = try TemporaryFolder()
        blocks = try Document("history.md").blocks
    }

    /// Runs the one command of the page that begins with a word, and compares what it prints.
    ///
    /// A line of dots on the page stands for whatever follows.
    private func check(_ name: String, rules: [String: String] = [:]) async throws {
        let block = try #require(blocks.first { $0.command?.first == name })
        for (file, text) in rules { folder.write(file, text) }
        var words = try #require(block.command)
        // What happened on the page was long ago when the test runs.
        if let since = words.firstIndex(of: "--since") { words[since + 1] = "2026-03-28T00:00" }
        words = words.map { rules[$0] == nil ? $0 : folder.file($0) }
        let result = try await RelayProcess.run(
            words + ["--state", folder.file("state")]
                + (name == "explain" ? ["--rules", folder.file("rules.json")] : []),
            environment: ["TZ": "Europe/Berlin"], folder: folder)
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        let printed = result.output.replacing(folder.path + "/", with: "")
        let shown = block.output
        if shown.hasSuffix("\n...\n") {
            #expect(printed.hasPrefix(shown.dropLast("...\n".count)), "\(printed)")
        } else {
            #expect(printed == shown)
        }
    }

    @Test func allOfItsBlocksAreTested() {
        #expect(blocks.map { $0.command?.first ?? $0.language } == ["jsonc", "history", "explain", "replay"])
    }

    @Test func theDefaultsAreAsItSays() throws {
        let text = blocks[0].text.prefix { $0 != "\n" }
        let problems = Problems()
        let node = try #require(ConfigurationParser.parse(Array(text.utf8), problems: problems))
        var root = try #require(ObjectReader(node, problems))
        let history = root.required("history")
        let policy = HistoryPolicy.read(try #require(history), problems: problems)
        #expect(policy == HistoryPolicy() && problems.lines(file: "").isEmpty)
    }

    @Test func eventsAreListed() async throws {
        let rules = TrialRules.text(
            """
            {"name": "no bots", "when": {"actor": "*_bot"}, "drop": true},
            {"name": "log", "to": ["log"], "continue": true},
            {"name": "comments", "when": {"kind": "comment"}, "to": ["team"], "limit": {"max": 1, "per": "1h", "excess": "drop"}},
            {"name": "likes", "when": {"kind": "like"}, "to": ["team"], "digest": {"by": ["post"], "window": "1h"}}
            """)
        let relay = try await RecordedRelay(rules, in: folder)
        try await relay.receive(TrialRules.event("e1", "2026-03-28T12:00:00Z", kind: "comment", actor: "Ann"))
        await relay.attempt()
        try await relay.receive(TrialRules.event("e2", "2026-03-28T12:10:00Z", kind: "comment", actor: "bo"))
        try await relay.receive(TrialRules.event("e3", "2026-03-28T12:20:00Z"))
        try await relay.recordAll(TrialRules.event("e4", "2026-03-28T12:30:00Z", actor: "my_bot"))
        try await check("history")
        await relay.close()
    }

    @Test func theWayOfAnEventIsExplained() async throws {
        let rules = TrialRules.text(
            """
            {"name": "log", "to": ["log"], "continue": true},
            {"name": "likes", "when": {"kind": "like"}, "to": ["team"], "digest": {"by": ["post"], "window": "1h"},
              "hold": "night"}
            """, times: TrialRules.night)
        let relay = try await RecordedRelay(rules, in: folder)
        try await relay.receive(TrialRules.event("e1", "2026-03-28T20:30:00Z"))
        try await relay.receive(TrialRules.event("e2", "2026-03-28T20:40:00Z", actor: "bo"))
        try await relay.advance(to: RecordedRelay.minute(17 * 60))
        await relay.attempt("team", .retry(at: RecordedRelay.minute(17 * 60 + 5), because: "status 503"))
        try await relay.advance(to: RecordedRelay.minute(17 * 60 + 5))
        await relay.attempt()
        try await check("explain", rules: ["rules.json": rules])
        await relay.close()
    }

    @Test func otherRulesAreCompared() async throws {
        let old = TrialRules.text(
            """
            {"name": "log", "to": ["log"], "continue": true},
            {"name": "likes", "when": {"kind": "like"}, "to": ["team"]},
            {"name": "comments", "when": {"kind": "comment"}, "to": ["team"], "hold": "night"},
            {"name": "follows", "when": {"kind": "follow"}, "to": ["team"], "digest": {"by": ["kind"], "window": "1h"}}
            """, times: TrialRules.night)
        let new = TrialRules.text(
            """
            {"name": "log", "to": ["log"], "continue": true},
            {"name": "likes", "when": {"kind": "like"}, "to": ["team"], "digest": {"by": ["post"], "window": "1h"}},
            {"name": "friends", "when": {"actor": "eve"}, "to": ["team"]},
            {"name": "mentions", "when": {"kind": "mention"}, "to": ["team"]}
            """)
        let relay = try await RecordedRelay(old, in: folder)
        for number in 10..<22 {
            try await relay.receive(TrialRules.event("like\(number)", "2026-03-28T12:\(number):00Z"))
        }
        for number in 1...3 {
            try await relay.receive(TrialRules.event("f\(number)", "2026-03-28T13:0\(number):00Z", kind: "follow"))
        }
        try await relay.receive(TrialRules.event("f4", "2026-03-28T14:30:00Z", kind: "follow", actor: "eve"))
        try await relay.receive(TrialRules.event("c1", "2026-03-28T21:10:00Z", kind: "comment"))
        try await relay.receive(TrialRules.event("c2", "2026-03-28T21:20:00Z", kind: "comment", actor: "eve"))
        try await relay.receive(TrialRules.event("lines", "2026-03-28T21:30:00Z", kind: "poke"))
        try await relay.runOn()
        await relay.attempt()
        try await check("replay", rules: ["new.json": new])
        await relay.close()
    }
}
