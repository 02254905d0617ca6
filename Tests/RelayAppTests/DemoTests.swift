import RelayTestKit
import Testing

/// `demo` as a newcomer runs it.
@Suite(.timeLimit(.minutes(1)))
struct DemoTests {
    @Test func eventsAreRelayedOverADroppedConnection() async throws {
        let folder = try TemporaryFolder()
        let result = try await RelayProcess.run(
            ["demo", "--events", "6", "--rate", "50", "--log-level", "trace"], folder: folder)
        #expect(result.status == 0)
        #expect(result.errors.components(of: "is connected") == 2)
        #expect(result.errors.contains("lost its connection"))
        #expect(result.errors.contains("events=6 repeated=0"))
        // Events of bots are dropped by the example's first rule; all others are lines.
        let dropped = Counters.field("dropped", in: result.errors) ?? 0
        #expect(result.output.split(separator: "\n").count == 6 - dropped)
        #expect(Counters(of: "terminal", in: result.errors)?.addUp == true)
        #expect(!result.all.contains("Bearer"))
    }

    @Test func noEventIsLostAtAHighRate() async throws {
        let folder = try TemporaryFolder()
        let result = try await RelayProcess.run(["demo", "--events", "2000", "--rate", "10000"], folder: folder)
        #expect(result.status == 0)
        #expect(result.errors.contains("events=2000 repeated=0"))
        let dropped = Counters.field("dropped", in: result.errors) ?? 0
        #expect(result.output.split(separator: "\n").count == 2000 - dropped)
    }

    @Test func theTokenIsInNoEnvironmentThatOthersSee() async throws {
        let folder = try TemporaryFolder()
        let rules = #"""
            {"streams": {"s": {"url": "ws://127.0.0.1:1/", "token": {"env": "CHIRP_TOKEN"}}},
             "sinks": {"out": {"type": "stdout"}}, "rules": [{"name": "all", "to": ["out"]}]}
            """#
        let path = folder.write("rules.json", rules)
        let result = try await RelayProcess.run(
            ["demo", "--events", "3", "--rate", "100", "--rules", path], environment: ["CHIRP_TOKEN": "MINE"],
            folder: folder)
        #expect(result.status == 0 && result.output.split(separator: "\n").count == 3)
    }
}

extension String {
    /// How often `text` occurs.
    func components(of text: String) -> Int {
        var (count, rest) = (0, self[...])
        while let range = rest.firstRange(of: text) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}

/// The counters of one sink as the relay tells them at its end.
struct Counters: Equatable {
    var effects, delivered, suppressed, pending, dead: Int

    /// Finds them in the diagnostics; nil if they are not told.
    init?(of sink: String, in diagnostics: String) {
        let lines = diagnostics.split(separator: "\n")
        guard let line = lines.last(where: { $0.contains("msg=counted") && $0.contains(" sink=\(sink) ") }) else {
            return nil
        }
        func number(_ name: String) -> Int { Self.field(name, in: String(line)) ?? -1 }
        effects = number("effects")
        delivered = number("delivered")
        suppressed = number("suppressed")
        pending = number("pending")
        dead = number("dead")
    }

    init(effects: Int, delivered: Int = 0, suppressed: Int = 0, pending: Int = 0, dead: Int = 0) {
        (self.effects, self.delivered, self.suppressed) = (effects, delivered, suppressed)
        (self.pending, self.dead) = (pending, dead)
    }

    /// Whether every effect ended in one place.
    var addUp: Bool { effects == delivered + suppressed + pending + dead }

    /// The number of the field `name` where it last stands.
    static func field(_ name: String, in text: String) -> Int? {
        text.split { $0 == " " || $0 == "\n" }.last { $0.hasPrefix("\(name)=") }
            .flatMap { Int($0.dropFirst(name.count + 1)) }
    }
}
