import GLibRuntime
import RelayCore
import RelayTestKit
import Testing

@testable import RelayApp

/// `explain EVENT-ID` tells from the history what became of an event.
@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct StoryCommandTests {
    private let folder: TemporaryFolder
    private static let rules = TrialRules.text(
        """
        {"name": "no bots", "when": {"actor": "*_bot"}, "drop": true},
        {"name": "log", "to": ["log"], "continue": true},
        {"name": "likes", "when": {"kind": "like"}, "to": ["team"], "digest": {"by": ["post"], "window": "1h"},
          "hold": "night"},
        {"name": "comments", "when": {"kind": "comment"}, "to": ["team"]}
        """, times: TrialRules.night, streams: #", "other": {"url": "wss://example.com/2", "token": {"env": "T"}}"#)

    init() throws {
        folder = try TemporaryFolder()
    }

    private func explain(_ words: String..., rules: String? = nil) async throws -> RelayProcess.Result {
        let path = rules.map { ["--rules", folder.write("rules.json", $0)] } ?? []
        return try await RelayProcess.run(
            ["explain", "--state", folder.path + "/state"] + path + words, environment: ["TZ": "Europe/Berlin"],
            folder: folder)
    }

    private func key(in text: String) -> String {
        text.firstRange(of: "key ").map { String(text[$0.upperBound...].prefix { $0 != "\n" }) } ?? ""
    }

    @Test func theWayOfAHeldLikeIsTold() async throws {
        let relay = try await RecordedRelay(Self.rules, in: folder)
        try await relay.receive(TrialRules.event("e1", "2026-03-28T20:30:00Z"))
        try await relay.receive(TrialRules.event("e2", "2026-03-28T20:40:00Z", actor: "bo"))
        try await relay.advance(to: RecordedRelay.minute(17 * 60))
        let failed = "status 503"
        await relay.attempt("team", .retry(at: RecordedRelay.minute(17 * 60 + 5), because: failed))
        try await relay.advance(to: RecordedRelay.minute(17 * 60 + 5))
        await relay.attempt()
        // Beside a relay that has the journal open.
        let result = try await explain("e1", rules: Self.rules)
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(
            result.output == """
                like by ann on p1  (e1)
                  of the stream "chirp", created 2026-03-28 21:30:00+01:00, received 2026-03-28 21:30:00+01:00
                  log -> log: passed to the sink right away, without the journal
                  likes -> team: delivered
                    gathered in digest 1, which closed 2026-03-28 22:30:00+01:00
                    held for briefing 2, which closed 2026-03-29 07:00:00+02:00
                    delivery 3, which tells of 2 effects, accepted 2026-03-29 07:00:00+02:00
                    delivered 2026-03-29 07:05:00+02:00, after 2 attempts; one had failed: status 503
                    key \(key(in: result.output))

                By the rules as they are now, \(folder.path)/rules.json, it would go like this:
                1. no bots: does not match
                     no   "actor": "*_bot": it has "ann"
                2. log: matches everything, and goes on
                     to log
                3. likes: matches, and decides
                     yes  "kind": "like": it has "like"
                     to team
                     asks for digest by post, window 1h, hold in night
                4. comments: not asked, as "likes" decided

                """)
        #expect(key(in: result.output).utf8.count > 20)
        await relay.close()
    }

    @Test func eachStateOfADeliveryIsTold() async throws {
        let relay = try await RecordedRelay(Self.rules, in: folder)
        func comment(_ id: String, _ minute: Int) -> String {
            TrialRules.event(id, "2026-03-28T12:0\(minute):00Z", kind: "comment")
        }
        try await relay.receive(comment("dead", 0))
        await relay.attempt("team", .dead(because: "status 400: \u{1b}[2J"))
        try await relay.receive(comment("again", 1))
        await relay.attempt("team", .retry(at: RecordedRelay.minute(10), because: "no answer"))
        try await relay.receive(comment("due", 2))
        try await relay.receive(TrialRules.event("open", "2026-03-28T12:03:00Z"))
        for (id, told) in [
            ("dead", #"dead since 2026-03-28 13:00:00+01:00, after 1 attempt: status 400: \u{1b}[2J"#),
            ("again", "to be tried again 2026-03-28 13:10:00+01:00, after 1 attempt; the last one failed: no answer"),
            ("due", "to be sent as soon as the sink takes it, after 0 attempts"),
            ("open", "gathered in digest 4, which is open"),
        ] {
            let result = try await explain(id)
            #expect(result.status == 0 && result.errors.isEmpty)
            #expect(result.output.contains("    \(told)\n"), "\(id): \(result.output)")
        }
        await relay.close()
    }

    @Test func whatWasFoldedIsFollowed() async throws {
        let relay = try await RecordedRelay(Self.rules, in: folder)
        for number in 1...7 {
            try await relay.receive(TrialRules.event("e\(number)", "2026-03-28T12:00:00Z", kind: "comment"))
        }
        await relay.attempt("team", .delivered, backlog: .desktop)
        let result = try await explain("e3")
        #expect(
            result.output.contains("    delivery 3 waited so long that it was folded with others into one digest\n"))
        #expect(result.output.contains("    delivery 8, which tells of 7 effects, accepted "))
        #expect(result.output.contains("    delivered 2026-03-28 13:00:00+01:00, after 1 attempt\n"))
        await relay.close()
    }

    @Test func allEventsWithTheIDAreTold() async throws {
        let relay = try await RecordedRelay(Self.rules, in: folder)
        try await relay.receive(TrialRules.event("e1", "2026-03-28T12:00:00Z", kind: "comment"))
        try await relay.receive(
            TrialRules.event("e1", "2026-03-28T12:01:00Z", kind: "comment", more: #","stream":"other""#))
        let both = try await explain("e1")
        #expect(both.output.contains(#"of the stream "chirp""#) && both.output.contains(#"of the stream "other""#))
        let one = try await explain("e1", "--stream", "other")
        #expect(!one.output.contains(#"of the stream "chirp""#) && one.output.contains(#"of the stream "other""#))
        let none = try await explain("e1", "--stream", "third")
        #expect(none.status == 1 && none.errors.contains(#"One of the stream "chirp" is held."#))
        await relay.close()
    }

    @Test func jsonIsTheRecordAndTheRulesThatAreNow() async throws {
        let relay = try await RecordedRelay(Self.rules, in: folder)
        try await relay.receive(TrialRules.event("e1", "2026-03-28T12:00:00Z", kind: "comment"))
        let lines = try await explain("e1", "--json", rules: Self.rules).output.split(separator: "\n")
        #expect(lines.count == 6)
        #expect(lines[0].hasPrefix(#"{"type":"event","number":1,"id":"e1","stream":"chirp","kind":"comment""#))
        #expect(lines[1] == #"{"type":"presentRules","file":"\#(folder.path)/rules.json","event":1}"#)
        #expect(lines.dropFirst(2).allSatisfy { $0.hasPrefix(#"{"type":"rule","rule":"#) })
        await relay.close()
    }

    @Test func rulesThatCannotBeReadDoNotHideTheStory() async throws {
        let relay = try await RecordedRelay(Self.rules, in: folder)
        try await relay.receive(TrialRules.event("e1", "2026-03-28T12:00:00Z", kind: "comment"))
        let asked = try await explain("e1", rules: "{")
        #expect(asked.status == 78 && asked.output.contains("comments -> team: pending\n") && !asked.errors.isEmpty)
        let usual = try await RelayProcess.run(
            ["explain", "e1", "--state", folder.path + "/state"],
            environment: ["CHIRP_RELAY_RULES": folder.path + "/rules.json"], folder: folder)
        #expect(usual.status == 0 && usual.output.contains("comments -> team: pending\n"))
        #expect(usual.errors.contains("is wrong; see `check`"))
        await relay.close()
    }

    @Test func whyAnEventIsNotHeldIsSaid() async throws {
        let relay = try await RecordedRelay(Self.rules, in: folder)
        try await relay.receive(TrialRules.event("e1", "2026-03-28T12:00:00Z", kind: "comment"))
        try await relay.receive(TrialRules.event("lines", "2026-03-28T12:01:00Z", kind: "follow"))
        let all = #"unless the rules file says "history": {"all": true}"#
        let seen = try await explain("lines", rules: Self.rules)
        #expect(seen.status == 1 && seen.output.isEmpty)
        #expect(
            seen.errors.contains(#"there is no file "lines", and the history in \#(folder.path)/state holds no event"#))
        #expect(
            seen.errors.contains(#"It was received (stream "chirp"), so it was not recorded, or its record is gone."#))
        #expect(
            seen.errors.contains(
                "The history goes back to 2026-03-28 13:00:00+01:00; the rules file keeps 7d and 200 MB"))
        #expect(seen.errors.contains(all))
        let never = try await explain("never\u{1b}[2J")
        #expect(never.status == 1 && never.errors.contains("It was never received, or too long ago"))
        #expect(never.errors.contains(#""keep" and "max" of "history" bound it"#) && never.errors.contains(all))
        #expect(!never.errors.contains("\u{1b}"))
        await relay.close()
    }

    @Test func withoutAJournalItSaysWhatWasTried() async throws {
        let result = try await explain("e1")
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors.contains(#"there is no file "e1", so it is taken for the id of an event"#))
        #expect(result.errors.contains("there is no journal in \(folder.path)/state"))
    }

    @Test func aFileStaysAFile() async throws {
        let relay = try await RecordedRelay(Self.rules, in: folder)
        try await relay.receive(TrialRules.event("e1", "2026-03-28T12:00:00Z", kind: "comment"))
        let path = folder.write("e1", TrialRules.event("of the file", "2026-03-28T12:00:00Z"))
        let result = try await explain(path, rules: Self.rules)
        #expect(result.status == 0 && result.output.contains("(of the file)"))
        await relay.close()
    }
}
