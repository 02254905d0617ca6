import GLibRuntime
import Glibc
import RelayCore
import RelayTestKit
import Testing

@testable import RelayApp

/// What a relay answers to requests, right and wrong.
@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct ControlAnswersTests {
    private let relay: Relay
    private let clock = TestClock(Instant(milliseconds: 1_893_456_000_000))

    init() async throws {
        let text = Rules.text("ws://127.0.0.1:9/", sinks: Rules.stdout)
        let problems = Problems()
        let configuration = try #require(RelayConfiguration.read(Array(text.utf8), problems: problems))
        relay = try await Relay(
            .init(
                configuration: configuration, secrets: SecretReader(folder: ""), clock: clock, log: .silent,
                rulesPath: "rules.json"))
    }

    private func answer(_ request: String) async -> String {
        String(decoding: await ControlAnswers(relay).answer(to: Array(request.utf8)).line, as: UTF8.self)
    }

    @Test(arguments: [
        ("", "the file is empty"), ("nonsense", "unknown word"), ("[1]", "expected an object, found an array"),
        ("{}", #"the key \"request\" is missing"#), (#"{"request": 1}"#, "expected a string, found a number"),
        (#"{"request": "format disk"}"#, #"unknown request \"format disk\""#),
        (#"{"request": "status", "more": 1}"#, #"unknown key \"more\""#),
        (#"{"request": "silence.add", "kind": "like"}"#, #"exactly one of \"for\" and \"until\""#),
        (#"{"request": "silence.add", "kind": "like", "for": "0s"}"#, "must be from 1s to 366d"),
        (#"{"request": "silence.add", "kind": "like", "until": "soon"}"#, "expected a time in RFC 3339"),
        (#"{"request": "silence.add", "kind": "like", "until": "2020-01-01T00:00:00Z"}"#, "lies in the past"),
        (#"{"request": "silence.add", "for": "1h"}"#, "a silence needs at least one of kind"),
        (#"{"request": "silence.add", "kind": "", "for": "1h"}"#, "a text has 1 to 1024 bytes"),
        (#"{"request": "silence.add", "knid": "like", "for": "1h"}"#, #"did you mean \"kind\"?"#),
        (#"{"request": "silence.remove"}"#, #"exactly one of \"id\" and \"all\""#),
        (#"{"request": "silence.remove", "id": 0}"#, "expected a whole number from 1"),
        (#"{"request": "silence.remove", "id": 5}"#, "there is no silence 5"),
    ]) func wrongRequestsGetAReason(request: String, told: String) async {
        let answer = await answer(request)
        #expect(answer.hasPrefix(#"{"ok":false,"error":""#))
        #expect(answer.contains(told))
        #expect(await self.answer(#"{"request": "silence.list"}"#) == #"{"ok":true,"silences":[]}"#)
    }

    @Test func garbageOfAnyKindIsAnswered() async {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        let pieces = Array(#"{}[]",:"requestsilence.addforuntil"1h\ud800\n/*"#.utf8) + [0, 0xff]
        for _ in 0..<1000 {
            let count = Int.random(in: 0...60, using: &generator)
            let bytes = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? 0 }
            let line = await ControlAnswers(relay).answer(to: bytes).line
            #expect(line.starts(with: Array(#"{"ok":false,"error":""#.utf8)), "seed \(seed)")
        }
    }

    @Test func silencesComeAndGo() async {
        let added = await answer(#"{"request": "silence.add", "actor": "ann", "rule": "al", "for": "1h"}"#)
        #expect(
            added
                == #"{"ok":true,"silence":{"id":1,"actor":"ann","rule":"al","until":"2030-01-01T01:00:00Z"},"#
                + #""warnings":["there is no rule \"al\"; did you mean \"all\"?"]}"#)
        _ = await answer(#"{"request": "silence.add", "kind": "like", "until": "2030-01-01T02:00:00+01:00"}"#)
        clock.advance(by: .seconds(3600))
        #expect(await answer(#"{"request": "silence.list"}"#) == #"{"ok":true,"silences":[]}"#)
        _ = await answer(#"{"request": "silence.add", "kind": "like", "for": "1d"}"#)
        #expect(await answer(#"{"request": "silence.remove", "all": true}"#) == #"{"ok":true,"removed":1}"#)
    }

    @Test func statusTellsWhatThereIs() async {
        clock.advance(by: .seconds(90))
        let status = await answer(#"{"request": "status"}"#)
        for told in [
            #""version":"\#(Version.number)""#, #""pid":\#(getpid()),"#, #""uptimeSeconds":90"#,
            #""rules":{"file":"rules.json","since":"2030-01-01T00:00:00Z","count":1}"#,
            #""streams":[{"name":"chirp","state":"disconnected""#, #""sinks":{"out":{"effects":0,"#,
            #""isCatchingUp":false,"catchUpError":null}"#, #""dead":0,"outboxFull":0,"#, #""receipts":[]"#,
            #""silences":[]"#, #""overflows":{"groups":0,"#,
        ] { #expect(status.contains(told)) }
        #expect(!status.contains("\n"))
    }
}
