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
        /// How many events a page has, and how many pages are missed between two relays at the least.
        static let (pageSize, missedPages) = (7, 3)

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
            let last = min(count, after + Self.pageSize)
            let events = after < last ? ((after + 1)...last).map { Rules.event($0) }.joined(separator: ",") : ""
            let next = last < count ? #""/events?after=00000000-0000-4000-8000-\#(Rules.digits(last))""# : "null"
            return #"{"events":[\#(events)],"next":\#(next)}"#
        }
    }

    /// When a relay is killed.
    enum Moment: CaseIterable {
        /// Before, between and after deliveries.
        case amongDeliveries
        /// After a page of missed events was asked for, while live events come.
        case amongPages
    }

    @Test(arguments: [UInt64(1), 2], Moment.allCases)
    func nothingIsLostAndAKeyHasOneBody(_ seed: UInt64, _ moment: Moment) async throws {
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
        let process = { try start(in: folder, server.url(), pages.url("/events?after={cursor}"), hook.url()) }
        for round in 0..<20 {
            let process = try process()
            defer { process.end() }
            let (taken, asked) = (hook.requests.count, pages.requests.count)
            await server.connected()
            for _ in 0..<10 { server.perform(.text(source.next())) }
            // The first one stores where catch-up begins.
            if round == 0 || moment == .amongDeliveries {
                let wanted = taken + .random(in: (round == 0 ? 1 : 0)...10, using: &generator)
                await hook.requested { hook.requests.count >= wanted }
            } else {
                let wanted = asked + .random(in: 1...Source.missedPages, using: &generator)
                await pages.requested { pages.requests.count >= wanted }
                for _ in 0..<Int.random(in: 0...5, using: &generator) { server.perform(.text(source.next())) }
                let count = hook.requests.count + .random(in: 0...3, using: &generator)
                await hook.requested { hook.requests.count >= count }
            }
            process.signal(SIGKILL)
            _ = await process.result()
            let missed = moment == .amongPages ? Source.missedPages * Source.pageSize : 0
            for _ in 0..<missed + .random(in: 0...9, using: &generator) { _ = source.next() }
        }
        let last = try process()
        defer { last.end() }
        let wanted = Set((1...source.count).map { "00000000-0000-4000-8000-\(Rules.digits($0))" })
        func arrived() -> Set<String> {
            Set(hook.requests.compactMap { Line(String(decoding: $0.body, as: UTF8.self))?.id })
        }
        await hook.requested { arrived() == wanted }
        #expect(wanted.subtracting(arrived()).sorted() == [], "seed \(seed)")
        let bodies = Dictionary(grouping: hook.requests) { $0.header("webhook-id") ?? "" }
        #expect(bodies.count == wanted.count && bodies.values.allSatisfy { Set($0.map(\.body)).count == 1 })
        last.signal(SIGTERM)
        let ended = await last.result()
        let counters = try #require(Counters(of: "hook", in: ended.errors))
        #expect(counters.effects == wanted.count)
    }

    private func start(
        in folder: TemporaryFolder, _ stream: String, _ pages: String, _ hook: String
    ) throws -> RelayProcess {
        // One that is killed that early may not get far in its catch-up.
        let catchUp = #""url": "\#(pages)", "events": "/events", "next": "/next", "order": "oldest", "maxPages": 1000"#
        let rules = Rules.text(
            stream, stream: #", "catchUp": {\#(catchUp)}"#, sinks: #""hook": {"type": "webhook", "url": "\#(hook)"}"#,
            rules: #"{"name": "all", "to": ["hook"]}"#)
        return try RelayProcess(
            ["run", "--rules", folder.write("rules.json", rules), "--state", folder.path + "/state"],
            environment: ["CHIRP_TOKEN": "T"], folder: folder)
    }
}
