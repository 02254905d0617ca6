internal import GLibRuntime
internal import RelayCore

/// Commits what the streams ask of the journal, in groups: whatever has queued while the last commit ran.
///
/// A commit also saves how far the streams have come; what brought nothing to commit is saved within a second.
/// It is also where a new plan takes its place in the order: after all that was decided by the old one.
@MainLoop
final class Accepter {
    private let journal: any Journal
    private let clock: any RelayClock
    private let log: Log
    private let bell = Doorbell()
    /// The plan by which `groups[0]` was decided.
    private var plan: EffectPlan
    /// Intakes that wait for their commit; between two groups a plan of `adoptions` comes into force.
    private var groups: [[Intake]] = [[]]
    /// How many intakes were added, and how many of them are committed.
    private(set) var added = 0
    private var committed = 0
    /// When progress without intakes is saved; nil if there is none.
    private var saveAt: Instant?
    private var adoptions: [Adoption] = []
    private var queuedBytes = 0
    private var isFinishing = false
    private var backoff = Backoff(base: .milliseconds(500), cap: .seconds(15), floor: 0.5)
    private var generator = SystemRandomNumberGenerator()
    private var failures = ThinnedCount()

    /// The bytes that may wait for a commit; above it the streams stop reading.
    static let mostBytes = 4 << 20

    /// The bytes that an intake takes beside the text of its event.
    private static let bytesBeside = 512

    /// How long progress without intakes may wait.
    private static let longestUnsaved = Duration.seconds(1)

    /// Knows how far the streams have come; nil if the journal keeps nothing of it.
    weak var progress: (any ProgressSource)?
    /// Called when reading must stop (true) and when it may go on (false).
    var onPressure: (@MainLoop (Bool) -> Void)?
    /// Told when something of the journal is due after a commit.
    var onDeadline: (@MainLoop (Deadline) -> Void)?
    private var isUnderPressure = false

    /// How many deliveries found the share of their sink full, by sink.
    private var outboxFull: [String: ThinnedCount] = [:]

    private struct Adoption {
        var plan: EffectPlan
        var done: Doorbell
    }

    /// Creates an accepter; `run` does its work.
    init(journal: any Journal, plan: EffectPlan, clock: any RelayClock, log: Log) {
        self.journal = journal
        self.plan = plan
        self.clock = clock
        self.log = log
    }

    /// Queues an intake for the next commit.
    func add(_ intake: Intake) {
        groups[groups.count - 1].append(intake)
        added += 1
        queuedBytes += intake.event.storage.count + Self.bytesBeside
        if queuedBytes > Self.mostBytes { setPressure(true) }
    }

    /// Starts a commit of what is queued, if anything is.
    func wake() {
        if !isIdle { bell.ring() }
    }

    /// Lets progress be saved within a second.
    func noteProgress() {
        guard progress != nil, saveAt == nil else { return }
        saveAt = clock.now() + Self.longestUnsaved
        if isIdle { bell.ring() }
    }

    /// Saves what progress is left, after the last line is written; what the disk does not take comes again.
    func saveLastProgress() async {
        let made = takeProgress(committing: 0)
        if made.isEmpty { return }
        do throws(JournalFailure) {
            _ = try await journal.accept([], progress: made, at: clock.moment())
        } catch {
            log(.warning, "journal", "how far the streams have come is not saved", [("because", error.description)])
        }
    }

    /// Puts a plan in force: intakes queued before are committed by the old one, later ones by this.
    ///
    /// - Returns: a bell that rings when the journal has it.
    func adopt(_ plan: EffectPlan) -> Doorbell {
        let done = Doorbell()
        adoptions.append(Adoption(plan: plan, done: done))
        groups.append([])
        bell.ring()
        return done
    }

    /// Commits until `finish()` was called and nothing is queued, or the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            if !groups[0].isEmpty {
                await commitNext()
            } else if !adoptions.isEmpty {
                await adoptNext()
            } else if isFinishing {
                return
            } else if let saveAt, saveAt <= clock.now() {
                await commit([], takeProgress(committing: 0))
            } else {
                await bell.wait(until: saveAt ?? .distantFuture, on: clock)
            }
        }
    }

    /// Makes `run` return when all that is queued is committed.
    func finish() {
        isFinishing = true
        bell.ring()
    }

    private var isIdle: Bool { groups[0].isEmpty && adoptions.isEmpty }

    private func commitNext() async {
        let group = groups[0]
        groups[0] = []
        queuedBytes -= group.reduce(0) { $0 + $1.event.storage.count + Self.bytesBeside }
        await commit(group, takeProgress(committing: group.count))
        committed += group.count
        setPressure(queuedBytes > Self.mostBytes)
    }

    /// Takes what can be saved with a commit of so many intakes; the rest is looked at again within a second.
    private func takeProgress(committing count: Int) -> [StreamProgress] {
        saveAt = nil
        let made = progress?.takeProgress(committed: committed + count) ?? []
        if progress?.hasProgress == true { saveAt = clock.now() + Self.longestUnsaved }
        return made
    }

    private func commit(_ group: [Intake], _ made: [StreamProgress]) async {
        if group.isEmpty, made.isEmpty { return }
        await untilTaken("events are not accepted yet") { [self] () throws(JournalFailure) in
            let acceptances = try await journal.accept(group, progress: made, at: clock.moment())
            tellFull(acceptances, of: group)
            tellDeadline(acceptances)
        }
    }

    private func adoptNext() async {
        let adoption = adoptions.removeFirst()
        groups.removeFirst()
        await untilTaken("the new rules are not in the journal yet") { [self] () throws(JournalFailure) in
            try await journal.adopt(adoption.plan, at: clock.moment())
        }
        plan = adoption.plan
        adoption.done.ring()
    }

    /// Asks the journal again and again while its disk takes nothing; what it can never take is told and passed over.
    private func untilTaken(_ what: String, _ ask: () async throws(JournalFailure) -> Void) async {
        var attempts = 0
        while true {
            do throws(JournalFailure) {
                return try await ask()
            } catch {
                let isLasting = if case .conflictingKey = error { true } else { false }
                if isLasting || failures.add() {
                    log(.error, "journal", isLasting ? "events are lost" : what, [("because", error.description)])
                }
                if isLasting || Task.isCancelled { return }
                let delay = backoff.delay(afterFailures: attempts, using: &generator)
                attempts += 1
                // A cancelled sleep ends the next round.
                try? await clock.sleep(until: clock.now() + delay)
            }
        }
    }

    private func tellDeadline(_ acceptances: [[Acceptance]]) {
        for result in acceptances.joined() {
            switch result {
            case .gathered(let until): onDeadline?(until)
            case .held(_, let until): onDeadline?(.wall(until))
            case .stored, .suppressed, .outboxFull: break
            }
        }
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
