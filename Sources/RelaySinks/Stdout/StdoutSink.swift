internal import GLibRuntime
package import RelayCore

/// Standard output as a sink whose deliveries are durable: a delivery is done when its line is written whole.
package final class StdoutSink: Sink {
    package let name: String
    /// One at a time, which keeps the order.
    package let inFlight = 1

    private let queue: LineQueue
    private let configuration: StdoutConfiguration
    private let style: TextLine.Style
    private let clock: any RelayClock
    /// Lines that were still queued when their attempt ran out of time, by delivery key.
    ///
    /// The next attempt waits for the same line, so that it is not written twice. A stuck queue takes no more of them
    /// than it has room for.
    private let unfinished = Locked<[String: Int]>([:])

    /// How long an attempt waits for the reader.
    private static let timeout = Duration.seconds(15)

    /// Creates a sink that writes through `queue`.
    package init(
        name: String, configuration: StdoutConfiguration, style: TextLine.Style, queue: LineQueue,
        clock: any RelayClock
    ) {
        self.name = name
        self.configuration = configuration
        self.style = style
        self.queue = queue
        self.clock = clock
    }

    package func deliver(_ delivery: Delivery) async -> Outcome {
        guard let line = unfinished.withLock({ $0.removeValue(forKey: delivery.key) }) ?? enqueue(delivery) else {
            return refusal()
        }
        await queue.settle(upTo: line, until: clock.now() + Self.timeout, clock: clock)
        switch queue.state.withLock({ $0.fate(of: line) }) {
        case .written: return .delivered
        case .lost: return refusal()
        case .pending:
            unfinished.withLock { $0[delivery.key] = line }
            return .retry(after: nil, because: "nobody reads standard output")
        }
    }

    package func close() async {}

    /// Queues the line and returns its number, or nil if the queue took nothing.
    private func enqueue(_ delivery: Delivery) -> Int? {
        var bytes: [UInt8] = []
        switch configuration.format {
        case .json:
            NoticeLine.append(delivery, to: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        case .text: TextLine.append(delivery, style: style, to: &bytes)
        }
        return queue.appendWatched(bytes)
    }

    private func refusal() -> Outcome {
        if queue.isOff { return .stopped(because: "standard output is closed") }
        return .retry(after: nil, because: "standard output takes nothing")
    }
}
