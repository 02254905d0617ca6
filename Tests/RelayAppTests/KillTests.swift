import GLibRuntime
import Glibc
import RelayCore
import RelayTestKit
import Testing

@testable import RelayApp

/// A relay is killed at random moments; a longer run of the same is in contrib/acceptance.
@Suite(.timeLimit(.minutes(3)))
@MainLoop
struct KillTests {
    /// Events with a memory: those that were sent, and those that nobody could take.
    private final class Source: Sendable {
        private let made = Locked(0)

        /// Makes the next event.
        func next() -> String {
            Rules.event(
                made.withLock { made in
                    made += 1
                    return made
                })
        }

        var count: Int { made.withLock { $0 } }

        /// The page of events after the one that is asked for.
        func page(_ target: String) -> String {
            let after = target.split(separator: "=").last.flatMap { Int($0.suffix(12)) } ?? 0
            let last = min(count, after + 7)
            let events = after < last ? ((after + 1)...last).map { Rules.event($0) }.joined(separator: ",") : ""
            let next = last < count ? #""/events?after=00000000-0000-4000-8000-\#(Rules.digits(last))""# : "null"
            return #"{"events":[\#(events)],"next":\#(next)}"#
        }
    }

    @Test(arguments: [UInt64(1), 2])
    func nothingIsLostAndAKeyHasOneBody(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let source = Source()
        let server = try ScriptedServer()
        let pages = try ScriptedHTTPServer { .send(ScriptedHTTPServer.answer("200 OK", [], source.page($0.target))) }
        let hook = try ScriptedHTTPServer { request in
            request.index % 5 == 3
                ? .reset : .send(ScriptedHTTPServer.answer(request.index % 7 == 5 ? "500 Oops" : "200 OK"))
        }
        defer {
            server.close()
            pages.stop()
            hook.stop()
        }
        let catchUp = #""url": "\#(pages.url("/events?after={cursor}"))", "events": "/events", "next": "/next""#
        let path = folder.write(
            "rules.json",
            Rules.text(
                server.url(), stream: #", "catchUp": {\#(catchUp), "order": "oldest"}"#,
                sinks: #""hook": {"type": "webhook", "url": "\#(hook.url())"}"#,
                rules: #"{"name": "all", "to": ["hook"]}"#))
        func start() throws -> RelayProcess {
            try RelayProcess(
                ["run", "--rules", path, "--state", folder.path + "/state"], environment: ["CHIRP_TOKEN": "T"],
                folder: folder)
        }
        for round in 0..<20 {
            let process = try start()
            defer { process.end() }
            await server.connected()
            for _ in 0..<10 { server.perform(.text(source.next())) }
            // The first one stores where catch-up begins.
            if round == 0 { for await _ in hook.events { break } }
            usleep(.random(in: 0...40_000, using: &generator))
            process.signal(SIGKILL)
            _ = await process.result()
            for _ in 0..<Int.random(in: 0...9, using: &generator) { _ = source.next() }
        }
        let last = try start()
        defer { last.end() }
        let wanted = Set((1...source.count).map { "00000000-0000-4000-8000-\(Rules.digits($0))" })
        func arrived() -> Set<String> {
            Set(hook.requests.compactMap { Line(String(decoding: $0.body, as: UTF8.self))?.id })
        }
        for await _ in hook.events where arrived() == wanted { break }
        #expect(arrived() == wanted, "seed \(seed)")
        let bodies = Dictionary(grouping: hook.requests) { $0.header("webhook-id") ?? "" }
        #expect(bodies.count == wanted.count && bodies.values.allSatisfy { Set($0.map(\.body)).count == 1 })
        last.signal(SIGTERM)
        let ended = await last.result()
        let counters = try #require(Counters(of: "hook", in: ended.errors))
        #expect(counters.effects == wanted.count)
    }
}
