import GLibRuntime
import Glibc
import RelayTestKit
import Testing

/// Limits, digests and repeats in the running program, to the sink that needs no journal otherwise.
@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct StatefulRulesTests {
    private static let digest = #"{"name": "likes", "to": ["out"], "digest": {"by": ["post"], "window": "WINDOW"}}"#

    private func rules(_ server: ScriptedServer, window: String) -> String {
        Rules.text(
            server.url(), sinks: Rules.stdout, rules: Self.digest.replacing("WINDOW", with: window))
    }

    private func events(_ count: Int) -> [ScriptedServer.Step] { (1...count).map { .text(Rules.event($0)) } }

    private func isDigest(_ line: String?, of count: Int) -> Bool {
        line?.contains(#""type":"digest""#) == true && line?.contains("\"count\":\(count)") == true
    }

    @Test func aTerminationDeliversAnOpenDigestAtOnce() async throws {
        let server = try ScriptedServer()
        defer { server.close() }
        let start = BootTime.milliseconds()
        let result = try await EndToEnd().relay(rules(server, window: "1h")) { _ in
            await server.connected()
            for step in events(7) { server.perform(step) }
            // The pong comes after all events were decided.
            server.perform(.ping([1]))
            _ = await server.next { $0 == .pong([1]) ? true : nil }
        }
        #expect(BootTime.milliseconds() - start < 30_000)
        #expect(result.status == 0)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 1 && isDigest(lines.first, of: 7))
        #expect(Counters(of: "out", in: result.errors) == Counters(effects: 7, delivered: 7))
    }

    @Test func aDigestClosesWhenItsWindowEnds() async throws {
        let server = try ScriptedServer()
        defer { server.close() }
        let result = try await EndToEnd().relay(rules(server, window: "1s")) { process in
            await server.connected()
            for step in events(3) { server.perform(step) }
            #expect(isDigest(await process.lines(1).first, of: 3))
        }
        #expect(result.status == 0)
    }

    @Test func aReloadKeepsADigestAndEndsOneWhoseRuleIsGone() async throws {
        let server = try ScriptedServer()
        defer { server.close() }
        let test = try EndToEnd()
        let result = try await test.relay(rules(server, window: "1h")) { process in
            await server.connected()
            for step in events(2) { server.perform(step) }
            server.perform(.ping([1]))
            _ = await server.next { $0 == .pong([1]) ? true : nil }
            test.folder.write(
                "rules.json",
                Rules.text(
                    server.url(), sinks: Rules.stdout,
                    rules: #"{"name": "none", "when": {"kind": "x"}, "drop": true}, "#
                        + Self.digest.replacing("WINDOW", with: "1h")))
            process.signal(SIGHUP)
            await process.errors(containing: "added none")
            server.perform(.text(Rules.event(3)), .ping([2]))
            _ = await server.next { $0 == .pong([2]) ? true : nil }
            #expect(process.text(.standard).isEmpty)
            test.folder.write("rules.json", Rules.text(server.url(), sinks: Rules.stdout))
            process.signal(SIGHUP)
            #expect(isDigest(await process.lines(1).first, of: 3))
            server.perform(.text(Rules.event(4)))
            #expect(await process.lines(2).last.flatMap { Line($0) }?.rule == "all")
        }
        #expect(result.status == 0)
        #expect(Counters(of: "out", in: result.errors) == Counters(effects: 4, delivered: 4))
    }

    @Test func aLimitSuppressesAndIsCounted() async throws {
        let server = try ScriptedServer()
        defer { server.close() }
        let limit = #"{"name": "few", "to": ["out"], "limit": {"max": 2, "per": "1h", "excess": "drop"}}"#
        let result = try await EndToEnd().relay(Rules.text(server.url(), sinks: Rules.stdout, rules: limit)) {
            process in
            await server.connected()
            for step in events(5) { server.perform(step) }
            await process.lines(2)
        }
        #expect(result.status == 0)
        #expect(Counters(of: "out", in: result.errors) == Counters(effects: 5, delivered: 2, suppressed: 3))
        #expect(result.errors.contains("limited=3"))
    }
}
