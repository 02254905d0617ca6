internal import GLibRuntime
internal import RelayCore

/// Keeps the deadlines of the journal: closes digests and briefings when they are due.
///
/// It sleeps until the next deadline and not at all without one. Deadlines of the wall clock are turned into relay time,
/// anew whenever somebody sets the clock.
@MainLoop
final class DigestTimer {
    private let journal: any Journal
    private let clock: any RelayClock
    private let log: Log
    private let bell = Doorbell()
    /// What it sleeps until; nothing that is due earlier is open.
    private var next = Instant.distantFuture
    private var failures = 0
    private var told = ThinnedCount()
    private let backoff = Backoff(base: .seconds(1), cap: .seconds(60), floor: 0.5)
    private var generator = SystemRandomNumberGenerator()

    /// Creates a timer; `run` does its work.
    init(journal: any Journal, clock: any RelayClock, log: Log) {
        self.journal = journal
        self.clock = clock
        self.log = log
    }

    /// Takes a deadline that a commit brought.
    func note(_ deadline: Deadline) {
        if relayTime(of: deadline, from: clock.moment()) < next { bell.ring() }
    }

    /// Asks the journal for its deadlines anew, as after new rules.
    func wake() {
        bell.ring()
    }

    /// Closes what is due, again and again, until the task is cancelled.
    func run() async {
        let watch = WallClockWatch { [bell] in bell.ring() }
        while !Task.isCancelled {
            next = await advance()
            await bell.wait(until: next, on: clock)
        }
        withExtendedLifetime(watch) {}
    }

    /// Closes what is due; returns when to do so again.
    private func advance() async -> Instant {
        let now = clock.moment()
        do throws(JournalFailure) {
            let deadlines = try await journal.advance(to: now)
            failures = 0
            return deadlines.map { relayTime(of: $0, from: now) }.min() ?? .distantFuture
        } catch {
            if told.add() {
                log(.error, "journal", "digests and briefings cannot close yet", [("because", error.description)])
            }
            defer { failures += 1 }
            return now.relay + backoff.delay(afterFailures: failures, using: &generator)
        }
    }

    private func relayTime(of deadline: Deadline, from now: Moment) -> Instant {
        now.relay + deadline.distance(from: now)
    }
}
