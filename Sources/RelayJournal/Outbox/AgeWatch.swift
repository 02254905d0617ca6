package import GLibRuntime
package import RelayCore

/// Gives up by age what waits for sinks that have no worker, as they are not in the file any more.
@MainLoop
package final class AgeWatch {
    private let journal: any Journal
    private let clock: any RelayClock
    private let log: Log
    /// The age at which what waits is dead.
    package let giveUp: Duration
    private let bell = Doorbell()
    /// The names of the sinks.
    package private(set) var sinks: Set<String> = []

    /// One that is still attempted may be older than any may be; it is looked at again after this.
    private static let pause = Duration.seconds(60)

    /// Creates a watch over no sink; `run` does its work.
    package init(
        journal: any Journal, clock: any RelayClock, log: Log, giveUp: Duration = OutboxWorker.Policy().giveUp
    ) {
        self.journal = journal
        self.clock = clock
        self.log = log
        self.giveUp = giveUp
    }

    /// Watches these sinks from now on, and looks at once.
    package func watch(_ sinks: Set<String>) {
        self.sinks = sinks
        bell.ring()
    }

    /// Looks at once, as dead letters may have been taken back.
    package func look() {
        if !sinks.isEmpty { bell.ring() }
    }

    /// Gives up what is too old whenever something is, until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            let next = await giveUpWhatIsOld()
            await bell.wait(until: next, on: clock)
        }
    }

    /// Returns when to look again.
    private func giveUpWhatIsOld() async -> Instant {
        var next = Instant.distantFuture
        for sink in sinks.sorted() {
            let now = clock.now()
            let given = await journal.giveUp(sink: sink, acceptedBy: now + (.zero - giveUp), at: now)
            if given.count > 0 { Self.tell(given.count, of: sink, to: log) }
            if let oldest = given.oldest { next = min(next, max(oldest + giveUp, now + Self.pause)) }
        }
        return next
    }

    /// Tells of deliveries that were given up.
    static func tell(_ count: Int, of sink: String, to log: Log) {
        let fields = [("sink", sink), ("count", String(count))]
        log(.error, "outbox", "deliveries grew too old while they waited and are dead", fields)
    }
}
