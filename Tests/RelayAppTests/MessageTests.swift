import GLibRuntime
import RelayTestKit
import Testing
import WebSocketCodec

/// What servers send, through a real connection and the real program to lines.
@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct MessageTests {
    private static let last = Rules.event(999_999, kind: "last")

    /// Messages, and the lines that come of them.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var steps: [ScriptedServer.Step]
        var lines: [String]
        var told: String?

        init(_ name: String, _ steps: ScriptedServer.Step..., lines: [String], told: String? = nil) {
            testDescription = name
            self.steps = steps
            self.lines = lines
            self.told = told
        }
    }

    private nonisolated static func event(_ members: String) -> ScriptedServer.Step { .text("{\(members)}") }

    nonisolated static let cases = [
        Case(
            "unknown kind", event(#""id":"1","kind":"poked","createdAt":"2030-01-02T03:04:05Z""#),
            lines: ["1 poked - - 2030-01-02T03:04:05Z"]),
        Case(
            "null post", event(#""id":"1","kind":"follow","actorUsername":"ann","postID":null,"createdAt":0"#),
            lines: ["1 follow ann - 1970-01-01T00:00:00Z"]),
        Case(
            "fractional seconds", event(#""id":"1","kind":"like","createdAt":"2030-01-02T03:04:05.678901Z""#),
            lines: ["1 like - - 2030-01-02T03:04:05.678Z"]),
        Case(
            "offset", event(#""id":"1","kind":"like","createdAt":"2030-01-02T03:04:05+05:30""#),
            lines: ["1 like - - 2030-01-01T21:34:05Z"]),
        Case(
            "array of events",
            .text(
                #"[{"id":"1","kind":"like","createdAt":0},{"kind":[]},{"id":"2","kind":"follow","createdAt":0}]"#),
            lines: ["1 like - - 1970-01-01T00:00:00Z", "2 follow - - 1970-01-01T00:00:00Z"],
            told: "an event whose kind is no string was ignored"),
        Case(
            "binary frame", .binary(#"{"id":"1","kind":"like","createdAt":0}"#.utf8),
            lines: ["1 like - - 1970-01-01T00:00:00Z"]),
        Case(
            "numeric id", event(#""id":9007199254740993,"kind":"like","createdAt":0"#),
            lines: ["9007199254740993 like - - 1970-01-01T00:00:00Z"]),
        Case(
            "the same id as a number and as text", event(#""id":7,"kind":"like","createdAt":0"#),
            event(#""id":"7","kind":"like","createdAt":0"#), lines: ["7 like - - 1970-01-01T00:00:00Z"],
            told: "repeated=1"),
        Case(
            "duplicate ids", .text(Rules.event(5)), .text(Rules.event(6)), .text(Rules.event(5)),
            lines: [
                "00000000-0000-4000-8000-000000000005 like ann p1 2030-01-02T03:04:05Z",
                "00000000-0000-4000-8000-000000000006 like ann p1 2030-01-02T03:04:05Z",
            ], told: "events=4 repeated=1"),
        Case(
            "lone surrogate", event(#""id":"1","kind":"like","actorUsername":"a\ud800b","createdAt":0"#),
            lines: ["1 like a\u{fffd}b - 1970-01-01T00:00:00Z"]),
        Case(
            "invalid UTF-8 in a binary message", .binary([0x7B, 0xFF, 0x7D]), lines: [],
            told: "a message that is not UTF-8 was ignored"),
        Case("no JSON", .text("hello"), lines: [], told: "a message that is not JSON was ignored"),
        Case(
            "100 000 levels of arrays", .text(String(repeating: "[", count: 100_000)), lines: [],
            told: "a message nested over 64 levels deep was ignored"),
        Case(
            "100 000 levels in an event",
            .text(
                #"{"id":"1","kind":"like","x":"# + String(repeating: "[", count: 100_000)
                    + String(repeating: "]", count: 100_000) + "}"),
            lines: [], told: "a message nested over 64 levels deep was ignored"),
        Case(
            "no event", .text(#"{"hello":"world"}"#), lines: [],
            told: "something without a kind came and was passed over"),
    ]

    private func shown(_ output: String) -> [String] {
        output.split(separator: "\n").compactMap { Line($0) }.filter { $0.kind != "last" }.map {
            "\($0.id) \($0.kind) \($0.actor ?? "-") \($0.post ?? "-") \($0.createdAt)"
        }
    }

    @Test(arguments: cases) func messageBecomesLines(_ example: Case) async throws {
        let server = try ScriptedServer { _ in example.steps + [.text(Self.last)] }
        defer { server.close() }
        let test = try EndToEnd()
        let result = try await test.relay(Rules.text(server.url(), sinks: Rules.stdout)) { process in
            await process.lines(example.lines.count + 1)
        }
        #expect(result.status == 0)
        #expect(shown(result.output) == example.lines)
        #expect(server.connectionCount == 1)
        if let told = example.told { #expect(result.errors.contains(told)) }
        #expect(
            Counters(of: "out", in: result.errors)
                == Counters(effects: example.lines.count + 1, delivered: example.lines.count + 1))
    }

    /// What ends the connection, the code that the server is told, and the text.
    struct Breach: Sendable {
        var step: ScriptedServer.Step
        var code: UInt16
        var text: String
    }

    @Test(arguments: [
        Breach(step: .badText([0x22, 0xC3, 0x28, 0x22]), code: 1007, text: "UTF-8"),
        Breach(step: .text(String(repeating: "x", count: 2 << 20)), code: 1009, text: "1048576"),
        Breach(step: .text(String(repeating: "x", count: 2 << 20)), code: 1009, text: "maxMessage"),
        Breach(step: .raw([0x83, 0x00]), code: 1002, text: "opcode"),
    ]) func breachClosesAndIsDialledAgain(_ breach: Breach) async throws {
        let server = try ScriptedServer { $0 == 1 ? [.text(Rules.event(1)), breach.step] : [.text(Self.last)] }
        defer { server.close() }
        let test = try EndToEnd()
        let result = try await test.relay(Rules.text(server.url(), sinks: Rules.stdout)) { process in
            let close = await server.next { record -> (UInt16?, String)? in
                if case .close(let code, let text) = record { (code, text) } else { nil }
            }
            #expect(close?.0 == breach.code)
            #expect(close?.1.contains(breach.text) == true)
            await process.lines(2)
        }
        #expect(result.status == 0 && server.connectionCount == 2)
        #expect(result.output.split(separator: "\n").compactMap { Line($0)?.kind } == ["like", "last"])
    }
}
