package import GLibRuntime
package import RelayCore

/// Delivers what the journal holds for one sink: claim, attempt, settle.
///
/// Every sink has a worker of its own, so a slow one delays no other. The worker obeys the sink's outcome: it retries
/// with full jitter, pauses the whole sink when the service asks for it, gives up by age, and stops when the sink's
/// credential is refused; then it only gives up by age, until it is started again.
@MainLoop
package final class OutboxWorker {
    /// How deliveries are retried and given up.
    package struct Policy: Sendable {
        /// The delay between the attempts of one delivery.
        package var backoff = Backoff(base: .seconds(1), cap: .seconds(15 * 60), floor: 0)
        /// How long the whole sink pauses after more failures in a row than it has attempts at a time.
        ///
        /// Then one attempt finds out whether it is back.
        package var sinkBackoff = Backoff(base: .seconds(1), cap: .seconds(5 * 60), floor: 0.5)
        /// How long the whole sink pauses when the service says that too much is sent, and not for how long.
        package var overrunBackoff = Backoff(base: .seconds(60), cap: .seconds(3600), floor: 1)
        /// The age at which a delivery that was not delivered is dead.
        package var giveUp: Duration = .seconds(48 * 3600)
        /// When deliveries that wait are folded into digests; nil for never.
        package var backlog: BacklogPolicy?
        /// How long a claim lasts: longer than any attempt may take, which is five minutes and what a sink needs to end.
        package var lease: Duration = .seconds(600)
        /// The longest pause that a service can ask for.
        package var longestPause: Duration = .seconds(3600)

        /// Creates the default policy.
        package init() {}
    }

    /// What a child task of the worker brings.
    private enum Happening: Sendable {
        /// An attempt ended, and no further one followed it.
        case attempted
        case rung
        case sinkIsReady
        case timerFired(Instant)
        case aged
    }

    /// Whether an attempt makes sense.
    private enum Readiness {
        case unknown, asked, ready
    }

    private let sink: any Sink
    private let journal: any Journal
    private let clock: any RelayClock
    private let log: Log
    private let policy: Policy
    private var pace: OutboxPace

    /// Child tasks to be started: they begin on the main loop, without a change of thread.
    private var children: [@MainLoop @Sendable () async -> Happening] = []
    private var running = 0
    private var isListening = false
    private var readiness = Readiness.unknown
    private var timer = Instant.distantFuture
    /// Whether it waits for the oldest delivery to grow too old.
    private var isWatchingAge = false
    private var isDraining = false
    private var isRetiring = false
    /// Why the sink takes nothing any more; nil while it works.
    package private(set) var stoppedBecause: String?
    private var rejections = ThinnedCount()

    /// Creates a worker that has not started.
    package init(
        sink: any Sink, journal: any Journal, clock: any RelayClock, log: Log, policy: Policy = Policy(),
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.sink = sink
        self.journal = journal
        self.clock = clock
        self.log = log
        self.policy = policy
        pace = OutboxPace(policy: policy, inFlight: sink.inFlight, generator: generator)
    }

    /// Delivers until the task is cancelled, or, after `drain()`, nothing is due any more.
    ///
    /// A sink that stops gets nothing until `start()`.
    package func run() async {
        let bell = await journal.bell(for: sink.name)
        await withTaskGroup(of: Happening.self) { group in
            while !Task.isCancelled {
                if stoppedBecause == nil { await fill() } else { await watchAge() }
                if isDraining || isRetiring, running == 0 { break }
                listen(to: bell)
                for child in children { group.addTask(operation: child) }
                children.removeAll(keepingCapacity: true)
                guard let happening = await group.next() else { break }
                handle(happening)
            }
            group.cancelAll()
            // What is in hand settles itself.
            await group.waitForAll()
        }
    }

    /// Makes `run` return as soon as nothing is due: what waits for a retry stays in the journal.
    package func drain() async {
        isDraining = true
        await journal.bell(for: sink.name).ring()
    }

    /// Makes `run` return as soon as the attempts in hand have ended: another worker goes on.
    package func retire() async {
        isRetiring = true
        await journal.bell(for: sink.name).ring()
    }

    /// Starts a sink that has stopped, with the delivery at which it did.
    ///
    /// - Returns: whether it had stopped.
    @discardableResult
    package func start() async -> Bool {
        guard stoppedBecause != nil else { return false }
        stoppedBecause = nil
        readiness = .unknown
        pace.reset()
        log(.info, "outbox", "the sink is started again", [("sink", sink.name)])
        await journal.bell(for: sink.name).ring()
        return true
    }

    /// Claims as much as may run now, and starts the attempts.
    private func fill() async {
        while running < pace.allowedAttempts, !isRetiring, stoppedBecause == nil {
            let now = clock.now()
            if let pausedUntil = pace.pausedUntil, pausedUntil > now { return wake(at: pausedUntil) }
            guard readiness == .ready else {
                askReadiness()
                return await watchAge()
            }
            let batch = await claim(upTo: pace.allowedAttempts - running, at: now)
            if let due = batch.nextDue { wake(at: due) }
            if batch.claims.isEmpty { return }
            for claim in batch.claims where !isTooOld(claim, at: now) { start(claim) }
        }
    }

    /// Claims deliveries, of which those that are too old are dead already.
    private func claim(upTo count: Int, at now: Instant) async -> ClaimBatch {
        let request = ClaimRequest(
            sink: sink.name, upTo: count, lease: policy.lease, inOrder: sink.inFlight == 1, backlog: policy.backlog)
        let batch = await journal.claim(request, at: now)
        for fold in batch.folds { tell(fold) }
        let tooOld = batch.claims.filter { isTooOld($0, at: now) }
        if !tooOld.isEmpty {
            AgeWatch.tell(tooOld.count, of: sink.name, to: log)
            await journal.settle(tooOld.map { SettledClaim($0, .dead(because: "too old")) }, at: now)
        }
        return batch
    }

    private func isTooOld(_ claim: Claim, at now: Instant) -> Bool {
        claim.acceptedAt + policy.giveUp <= now
    }

    /// Waits for the sink in a child task, so that draining and timers go on meanwhile.
    private func askReadiness() {
        guard readiness == .unknown else { return }
        readiness = .asked
        children.append { [sink] in
            await sink.awaitReady()
            return .sinkIsReady
        }
    }

    /// Gives up what reached the age while nothing is claimed, and looks again when the next one does.
    private func watchAge() async {
        guard !isWatchingAge else { return }
        isWatchingAge = true
        let now = clock.now()
        let given = await journal.giveUp(sink: sink.name, acceptedBy: now + (.zero - policy.giveUp), at: now)
        if given.count > 0 { AgeWatch.tell(given.count, of: sink.name, to: log) }
        guard let oldest = given.oldest else { return isWatchingAge = false }
        // One that is still attempted may be older.
        let next = max(oldest + policy.giveUp, now + .seconds(60))
        children.append { [clock] in
            // A cancelled wait only ends: the worker is about to stop.
            try? await clock.sleep(until: next)
            return .aged
        }
    }

    private func tell(_ fold: ClaimBatch.Fold) {
        log(
            .info, "outbox", "a backlog was folded into digests",
            [
                ("sink", sink.name), ("rule", fold.rule), ("deliveries", String(fold.deliveries)),
                ("digests", String(fold.digests)),
            ])
    }

    private func start(_ claim: Claim) {
        running += 1
        children.append { [self] in
            await attempt(claim)
            return .attempted
        }
    }

    /// Attempts a delivery, and the next one after it as long as they succeed: a task for each would cost more than
    /// what is done for it.
    private func attempt(_ first: Claim) async {
        var claim = first
        while true {
            let outcome = await sink.deliver(claim.delivery)
            await settle(claim, outcome)
            guard outcome == .delivered, let next = await nextClaim() else { return }
            claim = next
        }
    }

    /// Claims one delivery more, unless there is a reason to look around first.
    private func nextClaim() async -> Claim? {
        let now = clock.now()
        guard !Task.isCancelled, !isRetiring, stoppedBecause == nil, readiness == .ready, !pace.isPaused(at: now)
        else {
            return nil
        }
        return await claim(upTo: 1, at: now).claims.first { !isTooOld($0, at: now) }
    }

    private func listen(to bell: Doorbell) {
        guard !isListening else { return }
        isListening = true
        children.append {
            await bell.wait()
            return .rung
        }
    }

    /// Makes the worker look again at `instant`, unless it does so earlier anyway.
    private func wake(at instant: Instant) {
        guard instant < timer else { return }
        timer = instant
        children.append { [clock] in
            // A cancelled wait only ends: the worker is about to stop.
            try? await clock.sleep(until: instant)
            return .timerFired(instant)
        }
    }

    private func handle(_ happening: Happening) {
        switch happening {
        case .rung: isListening = false
        case .sinkIsReady: readiness = .ready
        case .timerFired(let instant):
            if timer == instant { timer = .distantFuture }
        case .attempted: running -= 1
        case .aged: isWatchingAge = false
        }
    }

    private func settle(_ claim: Claim, _ outcome: Outcome) async {
        let now = clock.now()
        let settlement = settlement(of: claim, outcome, at: now)
        let pausedUntil = pace.askedUntil.flatMap { $0 > now ? $0 : nil }
        await journal.settle([SettledClaim(claim, settlement, pausedUntil: pausedUntil)], at: now)
    }

    private func settlement(of claim: Claim, _ outcome: Outcome, at now: Instant) -> Settlement {
        switch outcome {
        case .delivered:
            if pace.failuresInARow > 0 { log(.info, "outbox", "delivering again", [("sink", sink.name)]) }
            pace.succeed()
            return .delivered
        case .retry where Task.isCancelled || stoppedBecause != nil:
            // The attempt was ended by us: it says nothing of the sink.
            return .released
        case .retry(let after, let reason, let trouble):
            // A drain does not wait for a sink that has gone.
            readiness = isDraining ? .ready : .unknown
            let until = pace.fail(attempt: claim.attempt, after: after, trouble: trouble, at: now)
            return retry(claim, at: until, because: reason, trouble)
        case .rejected(let reason):
            let level: LogLevel = rejections.add() ? .warning : .debug
            let count = [(name: "count", value: String(rejections.count))]
            log(level, "outbox", "a delivery was refused and is dead", facts(claim, reason) + count)
            return .dead(because: reason)
        case .stopped(let reason):
            // Attempts that ran beside the first say the same again.
            let level: LogLevel = stoppedBecause == nil ? .error : .debug
            stoppedBecause = stoppedBecause ?? reason
            log(level, "outbox", "the sink is stopped; deliveries stay pending", facts(claim, reason))
            return .released
        }
    }

    private func retry(
        _ claim: Claim, at until: Instant, because reason: String, _ trouble: Outcome.Trouble
    ) -> Settlement {
        guard until < claim.acceptedAt + policy.giveUp else {
            log(.error, "outbox", "a delivery was given up and is dead", facts(claim, reason))
            return .dead(because: reason)
        }
        // The first failure in a row is told; the rest is in the details.
        let level: LogLevel = pace.failuresInARow == 1 ? .warning : .debug
        log(level, "outbox", "an attempt failed and is tried again", facts(claim, reason))
        return .retry(at: until, because: reason, trouble: trouble)
    }

    private func facts(_ claim: Claim, _ reason: String) -> [(name: String, value: String)] {
        [("sink", sink.name), ("attempt", String(claim.attempt)), ("because", reason)]
    }
}
