import FoundationEssentials
import GLibRuntime
import Glibc
import RelayTestKit
import Testing

/// A hundred reloads while events come: none is lost, none doubled, and the memory stays flat.
@Suite(.timeLimit(.minutes(5)))
@MainLoop
struct ReloadUnderLoadTests {
    private static let reloads = 100
    private static let eventsAReload = 20
    private static let inForce = "the rules file was read again and is in force"

    /// A file in which rules, lists and the headers of a webhook change from round to round.
    private static func rules(_ round: Int, _ server: ScriptedServer, _ hook: ScriptedHTTPServer) -> String {
        let sinks = """
            \(Rules.stdout), "hook": {"type": "webhook", "url": "\(hook.url("/hook"))",
              "headers": {"X-Round": "\(round % 3)"}}
            """
        let rule = #"{"name": "round \#(round)", "to": ["out", "hook"], "title": "round \#(round)"}"#
        return Rules.text(server.url(), sinks: sinks, rules: rule)
    }

    private static func residentKilobytes(_ id: Int32) throws -> Int {
        let text = String(decoding: try Data(contentsOf: URL(filePath: "/proc/\(id)/statm")), as: UTF8.self)
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4
    }

    @Test func nothingIsLostDoubledOrKept() async throws {
        let server = try ScriptedServer()
        let hook = try ScriptedHTTPServer { _ in .send(ScriptedHTTPServer.answer()) }
        defer {
            server.close()
            hook.stop()
        }
        let folder = try TemporaryFolder()
        let path = folder.write("rules.json", Self.rules(0, server, hook))
        let process = try RelayProcess(
            ["run", "--rules", path, "--no-state"], environment: ["CHIRP_TOKEN": "T"], folder: folder)
        defer { process.end() }
        await server.connected()
        var sent = 0
        var before = 0
        for round in 1...Self.reloads {
            let new = folder.write("new.json", Self.rules(round, server, hook))
            #expect(rename(new, path) == 0)
            process.signal(SIGHUP)
            for _ in 0..<Self.eventsAReload {
                sent += 1
                server.perform(.text(Rules.event(sent)))
            }
            await process.errors(containing: "\"added round \(round); removed")
            // What is allocated once for good is there after the first rounds.
            if round == Self.reloads / 2 { before = try Self.residentKilobytes(process.id) }
        }
        let lines = await process.lines(sent)
        let after = try Self.residentKilobytes(process.id)
        process.signal(SIGTERM)
        let result = await process.result()
        #expect(result.status == 0)
        let ids = lines.compactMap { Line($0)?.id }
        #expect(ids == (1...sent).map { "00000000-0000-4000-8000-" + Rules.digits($0) })
        let posted = hook.requests.compactMap { Line(String(decoding: $0.body, as: UTF8.self))?.id }
        #expect(posted.count == sent && Set(posted) == Set(ids))
        #expect(server.connectionCount == 1)
        #expect(after - before < 3000, "from \(before) KB to \(after) KB")
        #expect(Counters(of: "hook", in: result.errors) == Counters(effects: sent, delivered: sent))
        #expect(Counters(of: "out", in: result.errors) == Counters(effects: sent, delivered: sent))
    }
}
