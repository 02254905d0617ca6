internal import GLibRuntime
internal import RelayCore
internal import RelayJournal

/// Removes from the history what it keeps no longer, though nothing be written.
@MainLoop
final class HistoryTimer {
    private let journal: SQLiteJournal
    private let clock: any RelayClock
    private let bell = Doorbell()

    /// How long it waits if nothing can be removed; who writes tells why.
    private static let pause = Duration.seconds(600)

    /// Creates a timer; `run` does its work.
    init(journal: SQLiteJournal, clock: any RelayClock) {
        self.journal = journal
        self.clock = clock
    }

    /// Keeps the history by another policy from now on.
    func keep(_ policy: HistoryPolicy) async {
        await journal.keepHistory(policy)
        bell.ring()
    }

    /// Removes what is due, again and again, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let now = clock.moment()
            let due = await prune(at: now)
            await bell.wait(until: now.relay + (due - now.wall), on: clock)
        }
    }

    private func prune(at now: Moment) async -> Instant {
        do throws(JournalFailure) {
            return try await journal.pruneHistory(at: now)
        } catch {
            return now.wall + Self.pause
        }
    }
}
