import Glibc
import RelayCore
import RelayTestKit
import Testing

@testable import RelaySinks

/// A pipe with the smallest buffer there is.
final class TestPipe: Sendable {
    let reading: Int32
    let writing: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        // A child of another test must not hold an end open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
        _ = fcntl(writing, 1031 /* F_SETPIPE_SZ */, 4096)
    }

    /// Reads until `count` bytes have come.
    func read(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while bytes.count < count {
            let got = Glibc.read(reading, &chunk, min(chunk.count, count - bytes.count))
            if got <= 0 { break }
            bytes.append(contentsOf: chunk.prefix(got))
        }
        return bytes
    }
}

@Suite(.serialized, .timeLimit(.minutes(1)))
struct LineQueueTests {
    private let reports = Collected<LineQueue.Report>()

    private func queue(
        _ descriptor: Int32, capacity: Int = 8 << 20, whenFull: StdoutConfiguration.WhenFull = .drop
    ) -> LineQueue {
        let reports = reports
        return LineQueue(descriptor: descriptor, capacity: capacity, whenFull: whenFull) { reports.add($0) }
    }

    /// Lines of 100 bytes that carry their number.
    private func lines(_ range: Range<Int>) -> [UInt8] {
        range.flatMap { number in
            let text = "\(number)"
            return Array((text + String(repeating: ".", count: 99 - text.count) + "\n").utf8)
        }
    }

    private func numbers(_ bytes: [UInt8]) -> [Int] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { Int($0.prefix { $0 != "." }) }
    }

    @Test func singleLineIsWrittenAtOnce() throws {
        let pipe = try TestPipe()
        let queue = queue(pipe.writing)
        for _ in 0..<100 {
            queue.append(Array("line\n".utf8), lines: 1)
            #expect(pipe.read(5) == Array("line\n".utf8))
        }
        queue.close()
    }

    @Test func everyLineArrivesInOrderThroughASmallPipe() async throws {
        let pipe = try TestPipe()
        let queue = queue(pipe.writing)
        for batch in 0..<100 { queue.append(lines(batch * 50..<(batch + 1) * 50), lines: 50) }
        #expect(numbers(pipe.read(5000 * 100)) == Array(0..<5000))
        #expect(await queue.flush(until: BootClock().now() + .seconds(10), clock: BootClock()))
        #expect(queue.counts == .init(accepted: 5000, written: 5000, lost: 0, dropped: 0))
        queue.close()
    }

    @Test func fullQueueDropsTheNewestWholeLinesAndTells() async throws {
        let pipe = try TestPipe()
        let queue = queue(pipe.writing, capacity: 50_000)
        var hadRoom: [Bool] = []
        for batch in 0..<100 { hadRoom.append(queue.append(lines(batch * 30..<(batch + 1) * 30), lines: 30)) }
        #expect(hadRoom.first == true)
        #expect(hadRoom.last == false)
        #expect(await reports.next() == .full)
        let counts = queue.counts
        #expect(counts.accepted + counts.dropped == 3000)
        #expect((500...560).contains(counts.accepted))
        let read = pipe.read(counts.accepted * 100)
        #expect(numbers(read) == Array(0..<counts.accepted))
        #expect(await reports.next() == .room(dropped: counts.dropped))
        #expect(queue.append(lines(0..<1), lines: 1))
        #expect(numbers(pipe.read(100)) == [0])
        queue.close()
    }

    @Test func waitingQueueDropsNothingAndTellsWhenThereIsRoom() async throws {
        let pipe = try TestPipe()
        let queue = queue(pipe.writing, capacity: 50_000, whenFull: .wait)
        var next = 0
        while queue.append(lines(next..<(next + 30)), lines: 30) { next += 30 }
        next += 30
        #expect(queue.isFull)
        #expect(await reports.next() == .full)
        #expect(numbers(pipe.read(next * 100)) == Array(0..<next))
        #expect(await reports.next() == .room(dropped: 0))
        #expect(!queue.isFull)
        #expect(queue.counts.dropped == 0)
        queue.close()
    }

    @Test func producerThatDoesNotWaitIsBoundedToo() throws {
        let pipe = try TestPipe()
        let queue = queue(pipe.writing, capacity: 50_000, whenFull: .wait)
        for batch in 0..<100 { queue.append(lines(batch * 30..<(batch + 1) * 30), lines: 30) }
        #expect(queue.counts.accepted <= 1060)
        _ = pipe.read(queue.counts.accepted * 100)
        queue.close()
    }

    @Test func lineLongerThanTheBoundIsWrittenAlone() async throws {
        let pipe = try TestPipe()
        let queue = queue(pipe.writing, capacity: 1000)
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 9999) + [UInt8(ascii: "\n")]
        queue.append(long, lines: 1)
        queue.append(long, lines: 1)
        #expect(queue.counts.dropped == 1)
        #expect(pipe.read(10_000) == long)
        #expect(await reports.next() == .full)
        #expect(await reports.next() == .room(dropped: 1))
        queue.append(long, lines: 1)
        #expect(pipe.read(10_000) == long)
        queue.close()
    }

    @Test func closedReaderSwitchesTheQueueOffOnce() async throws {
        let pipe = try TestPipe()
        close(pipe.reading)
        let queue = queue(pipe.writing)
        queue.append(lines(0..<3), lines: 3)
        #expect(await reports.next() == .off(because: "Broken pipe"))
        #expect(queue.isOff)
        #expect(queue.append(lines(3..<5), lines: 2))
        #expect(queue.counts == .init(accepted: 3, written: 0, lost: 3, dropped: 2))
    }

    @Test func readerThatLeavesAmidABatchLosesTheRest() async throws {
        let pipe = try TestPipe()
        let queue = queue(pipe.writing)
        queue.append(lines(0..<1000), lines: 1000)
        _ = pipe.read(10_000)
        close(pipe.reading)
        #expect(await reports.next() == .off(because: "Broken pipe"))
        #expect(queue.counts.written + queue.counts.lost == 1000)
    }

    @Test func badDescriptorSwitchesTheQueueOff() async throws {
        let queue = queue(-1)
        queue.append(lines(0..<1), lines: 1)
        #expect(await reports.next() == .off(because: "Bad file descriptor"))
    }

    @Test func fullDiskLosesTheLinesInHandAndTriesAgain() async throws {
        let full = open("/dev/full", O_WRONLY)
        try #require(full >= 0)
        let queue = queue(full)
        for number in 0..<3 {
            queue.append(lines(number..<(number + 1)), lines: 1)
            #expect(await queue.flush(until: BootClock().now() + .seconds(10), clock: BootClock()))
        }
        #expect(await reports.next() == .losing(because: "No space left on device"))
        #expect(queue.counts == .init(accepted: 3, written: 0, lost: 3, dropped: 0))
        // The descriptor becomes one that works.
        let pipe = try TestPipe()
        try #require(dup2(pipe.writing, full) == full)
        queue.append(lines(3..<4), lines: 1)
        #expect(numbers(pipe.read(100)) == [3])
        #expect(await reports.next() == .writing(lost: 3))
        queue.close()
    }

    @Test func nonBlockingDescriptorIsWaitedFor() async throws {
        let pipe = try TestPipe()
        _ = fcntl(pipe.writing, F_SETFL, O_NONBLOCK)
        let queue = queue(pipe.writing)
        queue.append(lines(0..<1000), lines: 1000)
        #expect(numbers(pipe.read(100_000)) == Array(0..<1000))
        queue.close()
    }

    @Test func flushEndsAtItsDeadline() async throws {
        let pipe = try TestPipe()
        let queue = queue(pipe.writing)
        queue.append(lines(0..<1000), lines: 1000)
        #expect(await !queue.flush(until: Instant(milliseconds: 0), clock: PassedClock()))
        #expect(numbers(pipe.read(100_000)).count == 1000)
        #expect(await queue.flush(until: BootClock().now() + .seconds(10), clock: BootClock()))
        queue.close()
    }

    @Test func cancelledFlushReturns() async throws {
        let pipe = try TestPipe()
        let queue = queue(pipe.writing)
        queue.append(lines(0..<1000), lines: 1000)
        let flush = Task { await queue.flush(until: .distantFuture, clock: BootClock()) }
        flush.cancel()
        #expect(await !flush.value)
        _ = pipe.read(100_000)
        queue.close()
    }

    @Test func queuedLinesAreWrittenAfterClose() throws {
        let pipe = try TestPipe()
        let queue = queue(pipe.writing)
        queue.append(lines(0..<1000), lines: 1000)
        queue.close()
        #expect(numbers(pipe.read(100_000)).count == 1000)
    }
}
