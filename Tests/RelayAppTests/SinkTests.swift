import FoundationEssentials
import GLibRuntime
import Glibc
import RelayTestKit
import Testing
import WebSocketCodec

/// Sinks that hang, fail or go away, beside each other in the real program.
@Suite(.timeLimit(.minutes(2)))
@MainLoop
struct SinkTests {
    private typealias Server = ScriptedHTTPServer

    private static func webhook(_ server: ScriptedHTTPServer) -> String {
        #""hook": {"type": "webhook", "url": "\#(server.url("/hook"))", "ordered": true}"#
    }

    private static let both = #"{"name": "all", "to": ["out", "hook"]}"#

    @Test func aWebhookThatNeverAnswersDelaysNeitherLinesNorPongs() async throws {
        let server = try ScriptedServer()
        let hung = try Server { _ in .hang }
        defer {
            server.close()
            hung.stop()
        }
        let rules = Rules.text(server.url(), sinks: "\(Rules.stdout), \(Self.webhook(hung))", rules: Self.both)
        let result = try await EndToEnd().relay(rules) { process in
            await server.connected()
            for number in 1...20 {
                let start = BootTime.milliseconds()
                server.perform(.text(Rules.event(number)), .ping([UInt8(number)]))
                await process.lines(number)
                #expect(BootTime.milliseconds() - start < 1000)
                _ = await server.next { $0 == .pong([UInt8(number)]) ? true : nil }
                #expect(BootTime.milliseconds() - start < 1000)
            }
            #expect(hung.requests.count == 1)
        }
        #expect(result.status == 0)
        #expect(Counters(of: "out", in: result.errors) == Counters(effects: 20, delivered: 20))
        #expect(Counters(of: "hook", in: result.errors) == Counters(effects: 20, pending: 20))
    }

    @Test func aWebhookIsTriedAgainWithTheSameKeyAndBody() async throws {
        let server = try ScriptedServer { _ in [.text(Rules.event(1)), .text(Rules.event(2))] }
        let receiver = try Server { request in
            switch request.index {
            case 0: .send(Server.answer("503 Busy"))
            case 1: .close
            default: .send(Server.answer())
            }
        }
        defer {
            server.close()
            receiver.stop()
        }
        let rules = Rules.text(
            server.url(), sinks: Self.webhook(receiver), rules: #"{"name": "all", "to": ["hook"]}"#)
        let result = try await EndToEnd().relay(rules) { _ in
            var count = 0
            for await event in receiver.events {
                if case .request = event { count += 1 }
                if count == 4 { break }
            }
        }
        #expect(result.status == 0)
        let requests = receiver.requests
        #expect(requests.count == 4)
        #expect(Set(requests.prefix(3).compactMap { $0.header("webhook-id") }).count == 1)
        #expect(Set(requests.prefix(3).map(\.body)).count == 1)
        #expect(requests[3].header("webhook-id") != requests[0].header("webhook-id"))
        let ids = requests.map { Line(String(decoding: $0.body, as: UTF8.self))?.id.suffix(1) }
        #expect(ids == ["1", "1", "1", "2"])
        #expect(Counters(of: "hook", in: result.errors) == Counters(effects: 2, delivered: 2))
    }

    @Test func withoutAReaderAndAnotherSinkTheRelayFails() async throws {
        let server = try ScriptedServer { _ in [.text(Rules.event(1)), .text(Rules.event(2))] }
        defer { server.close() }
        let process = try EndToEnd().start(Rules.text(server.url(), sinks: Rules.stdout), readsOutput: false)
        defer { process.end() }
        process.closeOutput()
        let result = await process.result()
        #expect(result.status == 1)
        #expect(result.errors.contains("standard output is gone and there is no other sink"))
        #expect(result.errors.components(of: "the sink is off") == 1)
        #expect(Counters(of: "out", in: result.errors) == Counters(effects: 2, dead: 2))
    }

    @Test func withoutAReaderTheOtherSinksGoOn() async throws {
        let server = try ScriptedServer { _ in [.text(Rules.event(1))] }
        let receiver = try Server { _ in .send(Server.answer()) }
        defer {
            server.close()
            receiver.stop()
        }
        let rules = Rules.text(server.url(), sinks: "\(Rules.stdout), \(Self.webhook(receiver))", rules: Self.both)
        let process = try EndToEnd().start(rules, readsOutput: false)
        defer { process.end() }
        process.closeOutput()
        await process.errors(containing: "the sink is off")
        server.perform(.text(Rules.event(2)))
        for await event in receiver.events {
            if case .request(let request) = event, request.index == 1 { break }
        }
        process.signal(SIGTERM)
        let result = await process.result()
        #expect(result.status == 0)
        #expect(Counters(of: "out", in: result.errors) == Counters(effects: 2, dead: 2))
        #expect(Counters(of: "hook", in: result.errors) == Counters(effects: 2, delivered: 2))
    }

    /// Lines of 16 KiB each, of which a queue of 8 MiB holds 512.
    private static let large = #"{"name": "all", "to": ["out"], "body": "\#(String(repeating: "{text}", count: 16))"}"#
    private static let count = 1200

    private func sendMuch(_ server: ScriptedServer) {
        let text = String(repeating: "x", count: 1024)
        for number in 1...Self.count {
            server.perform(.text(Rules.event(number, kind: "comment", more: #","text":"\#(text)""#)))
            if number == 20 { server.perform(.ping([7])) }
        }
    }

    @Test func aFullStandardOutputPausesReadingAndLosesNothing() async throws {
        let server = try ScriptedServer()
        defer { server.close() }
        let rules = Rules.text(server.url(), sinks: Rules.stdout, rules: Self.large)
        let process = try EndToEnd().start(rules, readsOutput: false)
        defer { process.end() }
        await server.connected()
        sendMuch(server)
        _ = await server.next { $0 == .pong([7]) ? true : nil }
        let diagnostics = await process.errors(containing: "nobody reads")
        #expect(diagnostics.contains("the streams pause"))
        process.readOutput()
        await process.errors(containing: "it flows again")
        server.perform(.text(Rules.event(5000)), .ping([8]))
        _ = await server.next { $0 == .pong([8]) ? true : nil }
        await process.lines(Self.count + 1)
        process.signal(SIGTERM)
        let result = await process.result()
        #expect(result.status == 0)
        #expect(server.connectionCount == 1)
        #expect(Counters(of: "out", in: result.errors) == Counters(effects: Self.count + 1, delivered: Self.count + 1))
        let numbers = result.output.split(separator: "\n").compactMap { Line($0)?.id.suffix(4) }
        #expect(numbers == (1...Self.count).map { Rules.digits($0).suffix(4) } + ["5000"])
    }

    @Test func aFullStandardOutputDropsAndCountsIfItShall() async throws {
        let server = try ScriptedServer()
        defer { server.close() }
        let rules = Rules.text(
            server.url(), sinks: #""out": {"type": "stdout", "whenFull": "drop"}"#, rules: Self.large)
        let process = try EndToEnd().start(rules, readsOutput: false)
        defer { process.end() }
        await server.connected()
        sendMuch(server)
        server.perform(.ping([9]))
        _ = await server.next { $0 == .pong([9]) ? true : nil }
        await process.errors(containing: "new lines are dropped")
        process.readOutput()
        let diagnostics = await process.errors(containing: "it flows again")
        let dropped = try #require(Counters.field("dropped", in: diagnostics))
        await process.lines(Self.count - dropped)
        process.signal(SIGTERM)
        let result = await process.result()
        let counters = try #require(Counters(of: "out", in: result.errors))
        let written = result.output.split(separator: "\n").count
        #expect(result.status == 0)
        #expect(counters == Counters(effects: Self.count, delivered: written, dead: Self.count - written))
        #expect((400..<1100).contains(written))
        #expect(dropped == Self.count - written)
    }

    @Test func aDurableStandardOutputIsCountedOnce() async throws {
        let server = try ScriptedServer { _ in (1...5).map { .text(Rules.event($0)) } }
        defer { server.close() }
        let rules = Rules.text(server.url(), sinks: #""out": {"type": "stdout", "durable": true}"#)
        let result = try await EndToEnd().relay(rules) { process in await process.lines(5) }
        #expect(result.status == 0 && result.output.split(separator: "\n").count == 5)
        #expect(Counters(of: "out", in: result.errors) == Counters(effects: 5, delivered: 5))
    }

    @Test func countersAddUpAtTheEnd() async throws {
        let server = try ScriptedServer { _ in
            (1...9).map { .text(Rules.event($0, kind: $0 % 3 == 0 ? "spam" : "like")) }
        }
        let receiver = try Server { request in
            .send(Server.answer(request.index % 2 == 0 ? "200 OK" : "400 Bad"))
        }
        defer {
            server.close()
            receiver.stop()
        }
        let rules = Rules.text(
            server.url(), sinks: "\(Rules.stdout), \(Self.webhook(receiver))",
            rules: #"{"name": "spam", "when": {"kind": "spam"}, "drop": true}, \#(Self.both)"#)
        let result = try await EndToEnd().relay(rules) { process in await process.lines(6) }
        #expect(result.status == 0)
        #expect(result.errors.contains("events=9 repeated=0 dropped=3"))
        #expect(Counters(of: "out", in: result.errors) == Counters(effects: 6, delivered: 6))
        #expect(Counters(of: "hook", in: result.errors) == Counters(effects: 6, delivered: 3, dead: 3))
    }

    @Test func aSecondSignalEndsTheRelayAtOnce() async throws {
        let server = try ScriptedServer { _ in [.text(Rules.event(1))] }
        let hung = try Server { _ in .hang }
        defer {
            server.close()
            hung.stop()
        }
        let rules = Rules.text(server.url(), sinks: Self.webhook(hung), rules: #"{"name": "all", "to": ["hook"]}"#)
        let process = try EndToEnd().start(rules)
        defer { process.end() }
        for await event in hung.events {
            if case .request = event { break }
        }
        process.signal(SIGTERM)
        await process.errors(containing: "stopping; another signal ends it at once")
        let start = BootTime.milliseconds()
        process.signal(SIGINT)
        let result = await process.result()
        #expect(result.status == 1)
        #expect(BootTime.milliseconds() - start < 1500)
    }
}
