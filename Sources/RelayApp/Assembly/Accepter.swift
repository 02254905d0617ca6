internal import GLibRuntime
internal import RelayCore

/// Commits what the streams ask of the journal, in groups: whatever has queued while the last commit ran.
@MainLoop
final class Accepter {
    private let journal: any Journal
    private let clock: any RelayClock
    private let log: Log
    private var plan: EffectPlan
    private let bell = Doorbell()
    private var queued: [Intake] = []
    private var queuedBytes = 0
    private var isFinishing = false

    /// The bytes that may wait for a commit; above it the streams stop reading.
    static let mostBytes = 4 << 20

    /// The bytes that an intake takes beside the text of its event.
    private static let bytesBeside = 512

    /// Rings when `run` has returned.
    let finished = Doorbell()
    /// Called when reading must stop (true) and when it may go on (false).
    var onPressure: (@MainLoop (Bool) -> Void)?
    private var isUnderPressure = false

    /// How many deliveries found the share of their sink full, by sink.
    private var outboxFull: [String: ThinnedCount] = [:]

    /// Creates an accepter; `run` does its work.
    init(journal: any Journal, plan: EffectPlan, clock: any RelayClock, log: Log) {
        self.journal = journal
        self.plan = plan
        self.clock = clock
        self.log = log
    }

    /// Queues an intake for the next commit.
    func add(_ intake: Intake) {
        queued.append(intake)
        queuedBytes += intake.event.storage.count + Self.bytesBeside
        if queuedBytes > Self.mostBytes { setPressure(true) }
    }

    /// Starts a commit of what is queued, if anything is.
    func wake() {
        if !queued.isEmpty { bell.ring() }
    }

    /// Commits until `finish()` was called and nothing is queued, or the task is cancelled.
    func run() async {
        defer { finished.ring() }
        while !Task.isCancelled {
            if queued.isEmpty {
                if isFinishing { return }
                await bell.wait()
            } else {
                await commit()
            }
        }
    }

    /// Makes `run` return when all that is queued is committed.
    func finish() {
        isFinishing = true
        bell.ring()
    }

    private func commit() async {
        let group = queued
        queued = []
        queuedBytes = 0
        do {
            let acceptances = try await journal.accept(group, at: clock.moment())
            tellFull(acceptances, of: group)
        } catch {
            log(.error, "journal", "events could not be accepted", [("because", error.description)])
        }
        setPressure(queuedBytes > Self.mostBytes)
    }

    private func tellFull(_ acceptances: [[Acceptance]], of group: [Intake]) {
        for (intake, results) in zip(group, acceptances) {
            for (effect, result) in zip(intake.effects, results) where result == .outboxFull {
                let sink = plan.sinkNames[effect.sink]
                guard outboxFull[sink, default: ThinnedCount()].add() else { continue }
                log(
                    .error, "journal", "outbox full: deliveries are dead",
                    [
                        ("sink", sink), ("rule", plan.policies[effect.rule].rule),
                        ("count", String(outboxFull[sink]?.count ?? 0)),
                    ])
            }
        }
    }

    private func setPressure(_ pressure: Bool) {
        guard pressure != isUnderPressure else { return }
        isUnderPressure = pressure
        onPressure?(pressure)
    }
}
