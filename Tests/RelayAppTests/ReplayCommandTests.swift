import GLibRuntime
import RelayCore
import RelayJournal
import RelayTestKit
import Testing

@testable import RelayApp

/// `replay` compares what was recorded with what other rules make of it.
@Suite(.timeLimit(.minutes(3)))
@MainLoop
struct ReplayCommandTests {
    private let folder: TemporaryFolder
    private static let old = TrialRules.text(
        """
        {"name": "log", "to": ["log"], "continue": true},
        {"name": "likes", "when": {"kind": "like"}, "to": ["team"]},
        {"name": "comments", "when": {"kind": "comment"}, "to": ["team"], "hold": "night"},
        {"name": "follows", "when": {"kind": "follow"}, "to": ["team"], "digest": {"by": ["kind"], "window": "1h"}}
        """, times: TrialRules.night)
    private static let new = TrialRules.text(
        """
        {"name": "log", "to": ["log"], "continue": true},
        {"name": "likes", "when": {"kind": "like"}, "to": ["team"], "digest": {"by": ["post"], "window": "1h"}},
        {"name": "friends", "when": {"actor": "eve"}, "to": ["team"]},
        {"name": "mentions", "when": {"kind": "mention"}, "to": ["team"]}
        """)

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Twelve likes, two comments in one briefing, three follows in one digest, one of which came an hour later.
    private func recorded() async throws -> RecordedRelay {
        let relay = try await RecordedRelay(Self.old, in: folder)
        for number in 10..<22 {
            try await relay.receive(TrialRules.event("like\(number)", "2026-03-28T12:\(number):00Z"))
        }
        await relay.attempt()
        for number in 1...3 {
            try await relay.receive(TrialRules.event("f\(number)", "2026-03-28T13:0\(number):00Z", kind: "follow"))
        }
        try await relay.receive(TrialRules.event("f4", "2026-03-28T14:30:00Z", kind: "follow", actor: "eve"))
        try await relay.receive(TrialRules.event("c1", "2026-03-28T21:10:00Z", kind: "comment"))
        try await relay.receive(TrialRules.event("c2", "2026-03-28T21:20:00Z", kind: "comment", actor: "eve"))
        return relay
    }

    private func replay(_ words: String..., rules: String = new) async throws -> RelayProcess.Result {
        let path = folder.write("new.json", rules)
        return try await RelayProcess.run(
            ["replay", "--rules", path, "--state", folder.path + "/state"] + words,
            environment: ["TZ": "Europe/Berlin"], folder: folder)
    }

    @Test func deliveriesAreComparedBySinkAndRule() async throws {
        let relay = try await recorded()
        try await relay.receive(TrialRules.event("lines", "2026-03-28T21:30:00Z", kind: "poke"))
        // Beside a relay that has the journal open, with a briefing that is not out yet.
        let result = try await replay()
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(
            result.output == """
                18 recorded events, received 2026-03-28 13:10:00+01:00 to 2026-03-28 22:20:00+01:00
                not recorded, and so not compared, as nothing of it touched the journal: 1 event
                deliveries, recorded -> by these rules
                log:           18 -> 18
                  log          18 -> 18
                team:          15 -> 3
                  likes        12 -> 1
                  friends       0 -> 2  (new rule)
                  mentions      0 -> 0  (new rule)
                  follows       2 -> 0  (no longer a rule)
                  (briefings)   1 -> 0
                digests and briefings still open, counted as the deliveries that they will be: 1

                """)
        try await relay.runOn()
        await relay.attempt()
        await relay.close()
        let later = try await replay()
        #expect(later.output == result.output.split(separator: "\n").dropLast().joined(separator: "\n") + "\n")
    }

    @Test func jsonHasALineForEachRuleAndSink() async throws {
        let relay = try await recorded()
        let lines = try await replay("--json").output.split(separator: "\n")
        #expect(
            lines == [
                #"{"type":"rule","sink":"log","rule":"log","recorded":18,"replayed":18,"change":null}"#,
                #"{"type":"sink","sink":"log","recorded":18,"replayed":18,"change":null}"#,
                #"{"type":"rule","sink":"team","rule":"likes","recorded":12,"replayed":1,"change":null}"#,
                #"{"type":"rule","sink":"team","rule":"friends","recorded":0,"replayed":2,"change":"new"}"#,
                #"{"type":"rule","sink":"team","rule":"mentions","recorded":0,"replayed":0,"change":"new"}"#,
                #"{"type":"rule","sink":"team","rule":"follows","recorded":2,"replayed":0,"change":"gone"}"#,
                #"{"type":"briefings","sink":"team","rule":null,"recorded":1,"replayed":0,"change":null}"#,
                #"{"type":"sink","sink":"team","recorded":15,"replayed":3,"change":null}"#,
                #"{"type":"summary","events":18,"notRecorded":0,"first":"2026-03-28T12:10:00Z","#
                    + #""last":"2026-03-28T21:20:00Z","open":1,"outboxFull":0,"silenced":0,"forgotten":0}"#,
            ])
        await relay.close()
    }

    @Test func onlyWhatWasReceivedSinceCounts() async throws {
        let relay = try await recorded()
        let result = try await replay("--since", "2026-03-28T15:00")
        #expect(result.output.hasPrefix("3 recorded events, received 2026-03-28 15:30:00+01:00 to "))
        #expect(result.output.contains("team:          2 -> 2\n"))
        let none = try await replay("--since", "1h")
        #expect(none.status == 1 && none.output.isEmpty)
        #expect(none.errors.contains("holds no event of that time to replay"))
        await relay.close()
    }

    @Test func whatWasFoldedOrSilencedIsCountedAsItWas() async throws {
        let relay = try await RecordedRelay(Self.old, in: folder)
        for number in 1...7 { try await relay.receive(TrialRules.event("e\(number)", "2026-03-28T12:00:00Z")) }
        await relay.attempt("team", .delivered, backlog: .desktop)
        try await relay.silence(kind: "like")
        try await relay.receive(TrialRules.event("mute", "2026-03-28T12:01:00Z"))
        let result = try await replay(rules: Self.old)
        #expect(result.output.contains("  likes  1 -> 8\n"))
        #expect(result.output.contains("effects silenced then, as nothing is in a replay: 1\n"))
        await relay.close()
    }

    @Test func aRuleThatIsCalledAnewIsBothGoneAndNew() async throws {
        let relay = try await RecordedRelay(Self.old, in: folder)
        try await relay.receive(TrialRules.event("e1", "2026-03-28T12:00:00Z"))
        let rules = Self.old.replacing(#""likes""#, with: #""hearts""#).replacing(#""team""#, with: #""room""#)
        let result = try await replay(rules: rules.replacing(#""chirp""#, with: #""squeak""#))
        #expect(result.output.contains("room:     0 -> 1  (new sink)\n  hearts  0 -> 1  (new rule)\n"))
        #expect(result.output.contains("team:     1 -> 0  (no longer a sink)\n  likes   1 -> 0  (no longer a rule)\n"))
        #expect(result.errors.contains(#"these rules have no stream "chirp", whose events were replayed all the same"#))
        await relay.close()
    }

    @Test func theSameRulesMakeTheSameDeliveries() async throws {
        var deliveries = 0
        for seed: UInt64 in 0..<40 {
            var generator = SeededGenerator(seed: seed)
            let rules = RandomTrial.rules(using: &generator)
            let events = RandomTrial.events(using: &generator)
            guard let first = events.first else { continue }
            let folder = try TemporaryFolder()
            let relay = try await RecordedRelay(rules, in: folder, at: first.at)
            for event in events { try await relay.recordAll(String(decoding: event.json, as: UTF8.self)) }
            if seed.isMultiple(of: 2) { try await relay.runOn() }
            let reader = try JournalReader(folder: relay.state)
            let configuration = try #require(RelayConfiguration.read(Array(rules.utf8), problems: Problems()))
            let run = ReplayRun(reader, configuration)
            let again = VirtualRelay(configuration, observer: run)
            try run.feed(again, since: nil, ProgressWatch(SystemClock(), output: OutputBlock()))
            _ = try again.runOn()
            // A digest that is open may yet join another one, or its events end limited.
            if run.recorded.open == 0 {
                #expect(run.recorded.deliveries == run.replayed, "seed \(seed)\n\(rules)")
            }
            deliveries += run.replayed.values.reduce(0, +)
            await relay.close()
        }
        #expect(deliveries > 100)
    }

    @Test func withoutEventsThereIsNothingToReplay() async throws {
        let relay = try await RecordedRelay(Self.old, in: folder)
        try await relay.receive(TrialRules.event("lines", "2026-03-28T12:00:00Z", kind: "poke"))
        let result = try await replay()
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(
            result.errors.contains("nothing of it touched the journal: 1 event;")
                && result.errors.contains(#""all": true"#)
        )
        await relay.close()
        let nowhere = try await replay("--state", folder.path + "/nowhere")
        #expect(nowhere.status == 1 && nowhere.errors.contains("there is no journal in \(folder.path)/nowhere"))
    }

    @Test(arguments: [
        ("replay", "by which rules? give --rules FILE"), ("replay --rules r --since soon", "--since is how long ago"),
        ("replay events.json", "replay takes no argument \"events.json\""),
    ]) func wrongWordsAreUsageFaults(words: String, told: String) async throws {
        let result = try await RelayProcess.run(words.split(separator: " ").map(String.init), folder: folder)
        #expect(result.status == 64 && result.output.isEmpty)
        #expect(result.errors.contains(told), "\(result.errors)")
    }

    @Test func wrongRulesAreTold() async throws {
        let result = try await replay(rules: "{}")
        #expect(
            result.status == 78 && result.output.isEmpty && result.errors.contains(#"the key "streams" is missing"#))
    }
}
