import FoundationEssentials
import GLibRuntime
import RelayCore
import RelayTestKit
import Testing

@testable import RelayApp

/// `history list` beside a relay that has the journal open.
@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct HistoryCommandTests {
    private let folder: TemporaryFolder
    private static let rules = TrialRules.text(
        """
        {"name": "no bots", "when": {"actor": "*_bot"}, "drop": true},
        {"name": "log", "to": ["log"], "continue": true},
        {"name": "comments", "when": {"kind": "comment"}, "to": ["team"], "limit": {"max": 1, "per": "1h", "excess": "drop"}},
        {"name": "likes", "when": {"kind": "like"}, "to": ["team"], "digest": {"by": ["post"], "window": "1h"}}
        """, streams: #", "other": {"url": "wss://example.com/2", "token": {"env": "CHIRP_TOKEN"}}"#)

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Four events: a like in an open digest, a comment that is delivered, one over the limit, a dropped one.
    private func recorded() async throws -> RecordedRelay {
        let relay = try await RecordedRelay(Self.rules, in: folder)
        try await relay.receive(TrialRules.event("e1", "2026-03-28T12:00:00Z", kind: "comment", actor: "Ann"))
        await relay.attempt()
        try await relay.receive(
            TrialRules.event("e2", "2026-03-28T12:10:00Z", kind: "comment", actor: "bo", more: #","stream":"other""#))
        try await relay.receive(TrialRules.event("e3", "2026-03-28T12:20:00Z", actor: "ann\\u001b[2J"))
        try await relay.recordAll(TrialRules.event("e4", "2026-03-28T12:30:00Z", actor: "my_bot"))
        return relay
    }

    private func list(_ words: String...) async throws -> RelayProcess.Result {
        try await list(words)
    }

    private func list(_ words: [String]) async throws -> RelayProcess.Result {
        try await RelayProcess.run(
            ["history", "list", "--state", folder.path + "/state"] + words, environment: ["TZ": "Europe/Berlin"],
            folder: folder)
    }

    @Test func theNewestEventComesFirst() async throws {
        let relay = try await recorded()
        let result = try await list()
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(
            result.output == #"""
                ID  RECEIVED          KIND     ACTOR         OUTCOME             EFFECTS
                e4  2026-03-28 13:30  like     my_bot        suppressed          no bots: dropped
                e3  2026-03-28 13:20  like     ann\u{1b}[2J  passed, pending     log -> log; likes -> team
                e2  2026-03-28 13:10  comment  bo            passed, suppressed  log -> log; comments -> team: limited
                e1  2026-03-28 13:00  comment  Ann           passed, delivered   log -> log; comments -> team

                """#)
        await relay.close()
        #expect(try await list().output == result.output)
    }

    @Test func jsonHasAllThatIsKnown() async throws {
        let relay = try await recorded()
        let lines = try await list("--json").output.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(
            lines[2] == """
                {"type":"event","number":2,"id":"e2","stream":"other","kind":"comment","actor":"bo","post":"p1","text":null,\
                "createdAt":"2026-03-28T12:10:00Z","receivedAt":"2026-03-28T12:10:00Z","effects":[{"rule":"log",\
                "sink":"log","outcome":"passed","receipt":null,"outboxFull":false,"gathered":[],"delivery":null},\
                {"rule":"comments","sink":"team","outcome":"suppressed","receipt":"limited","outboxFull":false,\
                "gathered":[],"delivery":null}]}
                """)
        struct Line: Decodable {
            struct Effect: Decodable {
                struct Delivery: Decodable {
                    var state: String
                    var attempts: Int
                    var deliveredAt: String?
                }
                struct Gathered: Decodable {
                    var type: String
                    var closedAt: String?
                }
                var delivery: Delivery?
                var gathered: [Gathered]
            }
            var effects: [Effect]
        }
        let told = try lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        #expect(told[3].effects.last?.delivery?.state == "delivered" && told[3].effects.last?.delivery?.attempts == 1)
        #expect(told[3].effects.last?.delivery?.deliveredAt == "2026-03-28T12:00:00Z")
        #expect(told[1].effects.last?.gathered.map(\.type) == ["digest"])
        #expect(told[1].effects.last?.gathered.first?.closedAt == nil)
        await relay.close()
    }

    @Test(arguments: [
        ("--kind comment", ["e2", "e1"]), ("--actor ANN", ["e1"]), ("--stream other", ["e2"]),
        ("--rule likes", ["e3"]), ("--rule comments --sink team", ["e2", "e1"]), ("--rule comments --sink log", []),
        ("--sink log", ["e3", "e2", "e1"]), ("--outcome delivered", ["e1"]), ("--outcome pending --sink log", []),
        ("--outcome passed --kind like", ["e3"]), ("--since 2026-03-28T13:10", ["e4", "e3", "e2"]),
        ("--until 2026-03-28T12:10:00Z", ["e1"]), ("--since 2026-03-28T13:10 --until 2026-03-28T13:20", ["e2"]),
        ("--since 1s", []), ("--limit 2", ["e4", "e3"]), ("--limit 1 --outcome passed", ["e3"]),
    ]) func filtersLetThroughWhatIsAskedFor(words: String, ids: [String]) async throws {
        let relay = try await recorded()
        let result = try await list(words.split(separator: " ").map(String.init) + ["--json"])
        #expect(result.status == 0)
        struct Line: Decodable {
            var id: String
        }
        let found = try result.output.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8)).id
        }
        #expect(found == ids)
        #expect(result.errors == (words.hasPrefix("--limit") ? "there is more; ask for it with --limit\n" : ""))
        await relay.close()
    }

    @Test func nothingFoundIsSaid() async throws {
        let relay = try await recorded()
        #expect(try await list("--kind", "follow").output == "the history holds nothing of that kind\n")
        await relay.close()
    }

    @Test func withoutAJournalItSaysSo() async throws {
        let result = try await list()
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors.contains("there is no journal in \(folder.path)/state"))
    }

    @Test(arguments: [
        ("history", "say what to do: list"),
        ("history lits", #"there is list, not "lits"; did you mean "list"?"#),
        ("history list list", "one argument is enough"),
        ("history list --since soon", "--since is how long ago, such as 90s, 15m, 1h30m or 7d, or a time like "),
        ("history list --until 25h61", "--until is how long ago"),
        ("history list --since 1h --until 2h", "--since must lie before --until"),
        ("history list --limit 0", "--limit is a number from 1 to 100000, not \"0\""),
        (
            "history list --outcome delivred",
            "--outcome is one of passed, delivered, suppressed, pending, dead, forgotten, not \"delivred\"; did you mean "
                + "\"delivered\"?"
        ),
        ("history list --no-state", "a relay with --no-state keeps no journal to look into"),
        ("history list --dead", "unknown option --dead"),
    ]) func wrongWordsAreUsageFaults(words: String, told: String) async throws {
        let result = try await RelayProcess.run(words.split(separator: " ").map(String.init), folder: folder)
        #expect(result.status == 64 && result.output.isEmpty)
        #expect(result.errors.contains(told), "\(result.errors)")
    }
}
