import RelayTestKit

/// Rules and events for tests of `test` and `explain`.
enum TrialRules {
    /// A file with two sinks, of which one is not durable, and these rules.
    static func text(_ rules: String, times: String = "", streams: String = "") -> String {
        """
        {
          "streams": {"chirp": {"url": "wss://example.com/", "token": {"env": "CHIRP_TOKEN"}}\(streams)},
          "times": {\(times)},
          "sinks": {"log": {"type": "stdout"}, "team": {"type": "webhook", "url": {"env": "TEAM_URL"}}},
          "rules": [\(rules)]
        }
        """
    }

    /// The time in Berlin from ten in the evening to seven in the morning.
    static let night = #""night": {"from": "22:00", "to": "07:00", "zone": "Europe/Berlin"}"#

    /// A chirp event on one line.
    static func event(
        _ id: String, _ at: String, kind: String = "like", actor: String = "ann", post: String = "p1",
        more: String = ""
    ) -> String {
        #"{"id":"\#(id)","kind":"\#(kind)","actorUsername":"\#(actor)","postID":"\#(post)","createdAt":"\#(at)"\#(more)}"#
            + "\n"
    }
}

/// `test` and its kin, run as the program in a folder of its own.
struct TrialProgram {
    /// Where its files are.
    let folder: TemporaryFolder

    /// Makes the folder.
    init() throws {
        folder = try TemporaryFolder()
    }

    /// Runs a command with these rules and this standard input, in Berlin.
    func run(
        _ command: String, _ rules: String, _ arguments: [String] = [], input: String = "",
        zone: String = "Europe/Berlin"
    ) async throws -> RelayProcess.Result {
        let path = folder.write("rules.json", rules)
        return try await RelayProcess.run(
            [command, "--rules", path] + arguments, environment: ["TZ": zone], input: input, folder: folder)
    }
}
