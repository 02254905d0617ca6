package import GLibRuntime
package import RelayCore

/// Gives up by age what waits for a sink that has no worker, as it is not in the file any more.
@MainLoop
package struct AgeWatch {
    private let sink: String
    private let journal: any Journal
    private let clock: any RelayClock
    private let log: Log
    private let giveUp: Duration

    /// One that is still attempted may be older than any may be; it is looked at again after this.
    private static let pause = Duration.seconds(60)

    /// Creates a watch over the deliveries of a sink; `run` does its work.
    package init(
        sink: String, journal: any Journal, clock: any RelayClock, log: Log,
        giveUp: Duration = OutboxWorker.Policy().giveUp
    ) {
        self.sink = sink
        self.journal = journal
        self.clock = clock
        self.log = log
        self.giveUp = giveUp
    }

    /// Gives up what is too old whenever something is, until the task is cancelled.
    package func run() async {
        let bell = await journal.bell(for: sink)
        while !Task.isCancelled {
            let now = clock.now()
            let given = await journal.giveUp(sink: sink, acceptedBy: now + (.zero - giveUp), at: now)
            if given.count > 0 { Self.tell(given.count, of: sink, to: log) }
            if let oldest = given.oldest {
                await bell.wait(until: max(oldest + giveUp, now + Self.pause), on: clock)
            } else {
                await bell.wait()
            }
        }
    }

    /// Tells of deliveries that were given up.
    static func tell(_ count: Int, of sink: String, to log: Log) {
        let fields = [("sink", sink), ("count", String(count))]
        log(.error, "outbox", "deliveries grew too old while they waited and are dead", fields)
    }
}
