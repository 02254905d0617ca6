internal import RelayCore

extension JournalCore {
    func adopt(_ plan: EffectPlan, at now: Moment) throws(JournalFailure) {
        try change(.full, at: now) { _ throws(JournalFailure) in try ledger.adopt(plan, at: now, into: &outbox) }
        self.plan = plan
    }

    private func adoptIfNecessary(at now: Moment) throws(JournalFailure) {
        if isPlanFormer { try adopt(plan, at: now) }
    }

    func accept(
        _ intakes: [Intake], progress: [StreamProgress], at now: Moment
    ) throws(JournalFailure) -> [[Acceptance]] {
        try adoptIfNecessary(at: now)
        return try change(.full, at: now) { additions throws(JournalFailure) in
            try ledger.advance(to: now, into: &outbox)
            additions.progress = progress
            var acceptances: [[Acceptance]] = []
            acceptances.reserveCapacity(intakes.count)
            for intake in intakes {
                let placements = try ledger.accept(intake, at: now, into: &outbox)
                acceptances.append(placements.map(\.acceptance))
                if !policy.isOff { additions.events.append((intake.event, recorded(intake, placements))) }
            }
            return acceptances
        }
    }

    func advance(to now: Moment) throws(JournalFailure) -> [Deadline] {
        try adoptIfNecessary(at: now)
        try change(.full, at: now) { _ throws(JournalFailure) in try ledger.advance(to: now, into: &outbox) }
        return ledger.deadlines(at: now)
    }

    // MARK: History

    /// How much of the history goes at once while nothing else is written.
    private static let slice = 4096
    /// What is too old may stay for so long, so that the history is looked at rarely.
    private static let slack = Duration.seconds(3600)
    /// The time between two slices.
    private static let pause = Duration.seconds(1)

    /// Removes a slice of what the history keeps no longer; returns when to do so again.
    func pruneHistory(at now: Moment) throws(JournalFailure) -> Instant {
        let due = try dueOfHistory(at: now)
        guard due <= now.wall else { return due }
        try change(.normal, at: now) { additions throws(JournalFailure) in additions.pruned = Self.slice }
        return try max(dueOfHistory(at: now), now.wall + Self.pause)
    }

    /// When something of the history is too old, at the earliest.
    private func dueOfHistory(at now: Moment) throws(JournalFailure) -> Instant {
        do throws(DatabaseFault) {
            let oldest = try history.oldest()
            if policy.isOff { return oldest == nil ? .distantFuture : now.wall }
            return (oldest ?? now.wall) + policy.keep + Self.slack
        } catch {
            throw failure(error)
        }
    }

    /// The effects of an intake by the names of their rules and sinks, with where they went.
    private func recorded(_ intake: Intake, _ placements: [Placement]) -> [RecordedEffect] {
        let stored = zip(intake.effects, placements).map { (effect: $0, path: RecordedEffect.Path($1)) }
        let passed = intake.passed.map { effect -> (effect: Effect, path: RecordedEffect.Path) in
            switch effect.action {
            case .deliver: (effect, .passed)
            case .suppress(let receipt): (effect, .receipt(receipt))
            }
        }
        // Each list is in the order of the rules; so is what a reader is shown.
        let all = passed.isEmpty ? stored : (stored + passed).sorted { $0.effect.rule < $1.effect.rule }
        return all.map { recorded($0.effect, $0.path) }
    }

    private func recorded(_ effect: Effect, _ path: RecordedEffect.Path) -> RecordedEffect {
        let (policies, sinks) = (plan.policies, plan.sinkNames)
        return RecordedEffect(
            rule: policies.indices.contains(effect.rule) ? policies[effect.rule].rule : "",
            sink: sinks.indices.contains(effect.sink) ? sinks[effect.sink] : "-", path: path)
    }

    // MARK: Silences

    func addSilence(
        _ matcher: Silence.Matcher, until: Instant, at now: Moment
    ) throws(SilenceFault) -> Silence {
        let silence = try ledger.addSilence(matcher, until: until, at: now)
        keepSilences(at: now)
        return silence
    }

    func removeSilence(_ id: UInt64, at now: Moment) -> Bool {
        let wasThere = ledger.removeSilence(id, at: now)
        keepSilences(at: now)
        return wasThere
    }

    /// Writes the silences; if the disk does not take them they are in force all the same, and written later.
    private func keepSilences(at now: Moment) {
        do throws(DatabaseFault) {
            try commit(.full, at: now)
        } catch {
            note(error)
        }
    }
}

extension RecordedEffect.Path {
    /// Where an effect of the journal went.
    fileprivate init(_ placement: Placement) {
        switch placement.acceptance {
        case .stored: self = .delivery(placement.serial ?? 0)
        case .gathered: self = .group(placement.serial ?? 0)
        case .held: self = .briefing(placement.serial ?? 0)
        case .suppressed(let receipt): self = .receipt(receipt)
        case .outboxFull: self = .outboxFull
        }
    }
}
