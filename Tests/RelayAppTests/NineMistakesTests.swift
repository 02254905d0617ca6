import RelayTestKit
import Testing

/// A file with nine mistakes of nine kinds is told of whole, with places and suggestions.
@Suite(.timeLimit(.minutes(1)))
struct NineMistakesTests {
    private static let text = """
        // Nine mistakes of nine kinds.
        {
          "streams": {
            "chirp": {
              "url": "wss://example.com/ws",
              "pnig": "30s",
              "pongTimeout": "10 parsecs",
              "token": {"env": "CHIRP_TOKEN"},
              "token": {"env": "OTHER"},
            },
          },
          "lists": {"friends": ["ann"]},
          "sinks": {"log": {"type": "stdout", "durable": "no"}},
          "rules": [
            {"name": "a", "to": ["lgo"]},
            {"name": "b", "when": {"actor": "@freinds"}, "drop": true},
            {"name": "c", "to": ["log"], "title": "{actr} wrote"},
            {"name": "d", "to": ["log"], "digest": {"window": "soon"}},
            {"name": "e", "to": ["log"], "drop": true},
          ],
        }
        """

    private static let told = [
        #"6:7: streams.chirp.pnig: unknown key "pnig"; did you mean "ping"?"#,
        #"7:22: streams.chirp.pongTimeout: "10 parsecs" is no duration; write it like "90s", "15m", "1h30m" or "2d""#,
        #"9:7: streams.chirp.token: the key "token" stands twice: here and at 8:7"#,
        "13:50: sinks.log.durable: expected true or false, found a string",
        #"15:26: rules[0].to[0]: there is no sink "lgo"; did you mean "log"?"#,
        #"16:37: rules[1].when.actor: there is no list "@freinds"; did you mean "@friends"?"#,
        #"17:43: rules[2].title: unknown placeholder "{actr}"; did you mean "actor"?"#,
        #"18:55: rules[3].digest.window: "soon" is no duration; write it like "90s", "15m", "1h30m" or "2d""#,
        #"19:5: rules[4]: a rule has "to" or "drop"; here are both"#,
    ]

    @Test(arguments: ["check", "run", "demo"]) func allNineAreToldAtOnce(command: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.write("rules.json", Self.text)
        let words = command == "check" ? [command, path] : [command, "--rules", path]
        let result = try await RelayProcess.run(words, folder: folder)
        #expect(result.status == 78)
        #expect(result.output.isEmpty)
        #expect(result.errors.split(separator: "\n").map(String.init) == Self.told.map { "\(path):\($0)" })
    }
}
