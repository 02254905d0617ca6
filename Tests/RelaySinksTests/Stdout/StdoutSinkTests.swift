import Glibc
import RelayCore
import RelayTestKit
import Testing

@testable import RelaySinks

@Suite(.serialized, .timeLimit(.minutes(1)))
struct StdoutSinkTests {
    private func sink(
        _ queue: LineQueue, clock: any RelayClock = BootClock(), format: StdoutConfiguration.Format = .json
    ) -> StdoutSink {
        StdoutSink(
            name: "log", configuration: StdoutConfiguration(format: format), style: .plain, queue: queue, clock: clock)
    }

    private func line(of delivery: Delivery) -> [UInt8] {
        var bytes: [UInt8] = []
        NoticeLine.append(delivery, to: &bytes)
        return bytes + [UInt8(ascii: "\n")]
    }

    @Test func lineWrittenWholeIsDelivered() async throws {
        let pipe = try TestPipe()
        let queue = LineQueue(descriptor: pipe.writing, whenFull: .drop) { _ in }
        #expect(await sink(queue).deliver(.sample()) == .delivered)
        let line = line(of: .sample())
        #expect(pipe.read(line.count) == line)
        queue.close()
    }

    @Test func retryOfALineStillQueuedDoesNotWriteItTwice() async throws {
        let pipe = try TestPipe()
        let queue = LineQueue(descriptor: pipe.writing, whenFull: .drop) { _ in }
        let stuck = [UInt8](repeating: UInt8(ascii: "x"), count: 9999) + [UInt8(ascii: "\n")]
        queue.append(stuck, lines: 1)
        let sink = sink(queue, clock: PassedClock())
        guard case .retry = await sink.deliver(.sample()) else { return #expect(Bool(false), "no retry") }
        guard case .retry = await sink.deliver(.sample()) else { return #expect(Bool(false), "no retry") }
        _ = pipe.read(stuck.count)
        #expect(await queue.flush(until: BootClock().now() + .seconds(10), clock: BootClock()))
        #expect(await sink.deliver(.sample()) == .delivered)
        #expect(queue.counts.accepted == 2)
        queue.close()
    }

    @Test func closedOutputStopsTheSink() async throws {
        let pipe = try TestPipe()
        close(pipe.reading)
        let queue = LineQueue(descriptor: pipe.writing, whenFull: .drop) { _ in }
        let sink = sink(queue)
        #expect(await sink.deliver(.sample(key: "1")) == .stopped(because: "standard output is closed"))
        #expect(await sink.deliver(.sample(key: "2")) == .stopped(because: "standard output is closed"))
    }

    @Test func fullDiskIsRetried() async throws {
        let queue = LineQueue(descriptor: open("/dev/full", O_WRONLY), whenFull: .drop) { _ in }
        #expect(
            await sink(queue).deliver(.sample()) == .retry(after: nil, because: "standard output takes nothing"))
        queue.close()
    }

    @Test func cancelledAttemptEndsWithRetry() async throws {
        let pipe = try TestPipe()
        let queue = LineQueue(descriptor: pipe.writing, whenFull: .drop) { _ in }
        queue.append([UInt8](repeating: UInt8(ascii: "x"), count: 9999) + [UInt8(ascii: "\n")], lines: 1)
        let sink = sink(queue)
        let attempt = Task { await sink.deliver(.sample()) }
        attempt.cancel()
        #expect(await attempt.value == .retry(after: nil, because: "nobody reads standard output"))
        _ = pipe.read(10_000)
        queue.close()
    }
}

struct StdoutConfigurationTests {
    private func read(_ members: [(String, String)]) -> (StdoutConfiguration, [String]) {
        let problems = Problems()
        let position = Position(line: 1, column: 1)
        let node = ConfigurationNode(
            .object(
                members.map { key, value in
                    ConfigurationNode.Member(
                        key: key, keyPosition: position,
                        value: ConfigurationNode(.string(value), at: position, path: "sinks.log.\(key)"))
                }), at: position, path: "sinks.log")
        guard var reader = ObjectReader(node, problems) else { return (StdoutConfiguration(), ["no object"]) }
        let configuration = StdoutConfiguration.read(&reader)
        reader.finish()
        return (configuration, problems.all.map { $0.line(file: "f") })
    }

    @Test func defaultsAreJSONAndUndecided() {
        #expect(read([]) == (StdoutConfiguration(format: .json, whenFull: nil), []))
    }

    @Test func keysAreTaken() {
        #expect(
            read([("format", "text"), ("whenFull", "wait")]) == (
                StdoutConfiguration(format: .text, whenFull: .wait), []
            ))
    }

    @Test func wrongWordNamesTheNearest() {
        #expect(
            read([("format", "jsn")]).1 == [
                "f:1:1: sinks.log.format: expected \"json\" or \"text\", found \"jsn\"; did you mean \"json\"?"
            ])
    }

    @Test func unknownKeyIsAProblem() {
        #expect(read([("fromat", "json")]).1.first?.contains("did you mean \"format\"?") == true)
    }
}
