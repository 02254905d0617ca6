internal import RelayCore

extension JournalCore {
    /// How long a worker waits if nothing can be read or stored.
    private static let pause = Duration.seconds(5)

    /// Claims what is due.
    ///
    /// A disk that takes nothing holds no delivery back, but nothing is folded then.
    func claim(_ request: ClaimRequest, at now: Instant) -> ClaimBatch {
        let moment = Moment(now)
        do throws(JournalFailure) {
            return try tryClaim(request, at: moment)
        } catch {
            var plain = request
            plain.backlog = nil
            if let batch = try? tryClaim(plain, at: moment) { return batch }
            return ClaimBatch(claims: [], nextDue: now + Self.pause)
        }
    }

    private func tryClaim(_ request: ClaimRequest, at now: Moment) throws(JournalFailure) -> ClaimBatch {
        if isStale { _ = try change(.normal, at: now) { _ throws(JournalFailure) in } }
        guard request.backlog != nil, trouble == .nothing else {
            let batch = try outbox.claim(request, at: now.relay, ledger: &ledger)
            keep(at: now)
            return batch
        }
        return try change(.normal, at: now) { additions throws(JournalFailure) in
            let batch = try outbox.claim(request, at: now.relay, ledger: &ledger)
            // The serial of a digest is part of its key, and must not be given twice.
            if !batch.folds.isEmpty { additions.durability = .full }
            return batch
        }
    }

    func settle(_ settlements: [SettledClaim], at now: Instant) -> Int {
        let stale = outbox.index.settle(settlements, at: now)
        keep(at: Moment(now))
        return stale
    }

    func giveUp(sink: String, acceptedBy limit: Instant, at now: Instant) -> GivenUp {
        let given = outbox.index.giveUp(sink: sink, acceptedBy: limit, at: now)
        if given.count > 0 { keep(at: Moment(now)) }
        return given
    }

    func entries(_ selection: OutboxSelection, limit: Int) throws(JournalFailure) -> [OutboxEntry] {
        try outbox.index.entries(selection, limit: limit, on: outbox.shelf)
    }

    func retry(_ selection: OutboxSelection, to sink: String?, at now: Instant) throws(JournalFailure) -> Int {
        try change(.full, at: Moment(now)) { _ throws(JournalFailure) in
            try outbox.retry(selection, to: sink, at: now, ledger: &ledger)
        }
    }

    func drop(_ selection: OutboxSelection, at now: Instant) throws(JournalFailure) -> Int {
        try change(.full, at: Moment(now)) { _ throws(JournalFailure) in outbox.index.drop(selection, at: now) }
    }

    /// The counters by sink, of ledger and outbox together.
    var counters: [String: SinkCounters] {
        ledger.counters.merging(outbox.index.counters) { sum, other in
            var sum = sum
            sum.add(other)
            return sum
        }
    }
}
