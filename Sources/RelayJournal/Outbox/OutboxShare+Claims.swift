internal import RelayCore

extension OutboxShare {
    /// The delivery whose turn it is.
    struct Next {
        let row: OutboxRow
        /// The one that it goes past, if it does.
        let past: UInt64?
    }

    private static let allowedUnsettledClaims = 5

    /// Finds the delivery whose turn it is, or nil.
    ///
    /// With `inOrder`, one that is claimed or waits holds back all behind it, unless it stepped aside.
    mutating func next(inOrder: Bool, at now: Instant) -> Next? {
        promote(at: now)
        guard let row = firstReady() else { return nil }
        guard inOrder else { return Next(row: row, past: nil) }
        guard claims.isEmpty else { return nil }
        guard !row.isAside, let held = held(before: row.place) else { return Next(row: row, past: nil) }
        return held.isAlone && queue.canPass(held.first) ? Next(row: row, past: held.first) : nil
    }

    /// Claims the delivery whose turn it is.
    mutating func claim(_ next: Next, token: UInt64, until: Instant) {
        ready.removeFirst()
        let serial = next.row.serial
        update(serial) { row in
            row.attempts += 1
            row.isFoldable = false
            row.state = .claimed(until: until)
        }
        claims[token] = serial
        if let past = next.past { queue.pass(past, by: token) }
    }

    /// Lets a fold leave a delivery alone for good.
    mutating func leaveAlone(_ serial: UInt64) {
        update(serial) { $0.isFoldable = false }
    }

    /// When there may be something to claim, if there is nothing now.
    mutating func nextDue() -> Instant? {
        let lease = claims.values.compactMap { serial -> Instant? in
            if case .claimed(let until)? = rows[serial]?.state { return until }
            return nil
        }.min()
        return [firstWaiting()?.until, lease].compactMap(\.self).min()
    }

    /// Settles a claim; returns whether the token still held it.
    mutating func settle(_ token: UInt64, _ settlement: Settlement, at now: Instant) -> Bool {
        guard let serial = claims.removeValue(forKey: token) else { return false }
        let passed = queue.end(
            token, isDelivered: settlement == .delivered, wasAttempted: settlement != .released)
        if let passed, rows[passed]?.isPending == true { update(passed) { $0.isAside = true } }
        switch settlement {
        case .delivered: end(serial, .delivered, at: now)
        case .dead(let reason): bury(serial, because: reason, at: now)
        case .retry(let until, let reason, let trouble):
            update(serial) { row in
                row.state = .waiting(until: until)
                row.unsettledClaims = 0
                row.lastError = reason
            }
            if trouble == .failed { queue.fail(serial, at: now) }
            requeue(serial)
        case .released:
            update(serial) { row in
                row.state = .due
                row.attempts -= 1
            }
            requeue(serial)
        }
        return true
    }

    /// Makes deliveries whose worker did not settle them in time due again, or dead after five such claims.
    mutating func takeBackExpiredClaims(at now: Instant) {
        for (token, serial) in claims {
            guard case .claimed(let until)? = rows[serial]?.state, until <= now else { continue }
            claims.removeValue(forKey: token)
            _ = queue.end(token, isDelivered: false, wasAttempted: true)
            takeBack(serial, at: now)
        }
    }

    /// Takes back a delivery whose claim nobody settled.
    mutating func takeBack(_ serial: UInt64, at now: Instant) {
        update(serial) { row in
            row.unsettledClaims += 1
            row.state = .due
        }
        if rows[serial]?.unsettledClaims ?? 0 >= Self.allowedUnsettledClaims {
            bury(serial, because: "killed the relay", at: now)
        } else {
            requeue(serial)
        }
    }

    private mutating func requeue(_ serial: UInt64) {
        if let row = rows[serial] { queueUp(row) }
    }

    /// Makes due what waited long enough.
    private mutating func promote(at now: Instant) {
        while let first = firstWaiting(), first.until <= now {
            waiting.removeFirst()
            // What is stored says the same: a time that has passed.
            rows[first.serial]?.state = .due
            ready.insert(Turn(place: first.place, serial: first.serial))
        }
    }

    private mutating func firstReady() -> OutboxRow? {
        while let turn = ready.first {
            if let row = rows[turn.serial], row.state == .due { return row }
            ready.removeFirst()
        }
        return nil
    }

    private mutating func firstWaiting() -> Waiting? {
        while let first = waiting.first {
            if isCurrent(first) { return first }
            waiting.removeFirst()
        }
        return nil
    }

    private func isCurrent(_ entry: Waiting) -> Bool { rows[entry.serial]?.state == .waiting(until: entry.until) }

    /// What waits before a place and holds it back: the first, and whether it is the only one.
    ///
    /// Only asked for sinks in order, of which few wait at a time.
    private func held(before place: UInt64) -> (first: UInt64, isAlone: Bool)? {
        var first: Waiting?
        var count = 0
        for entry in waiting.elements where entry.place < place && isCurrent(entry) {
            guard rows[entry.serial]?.isAside == false else { continue }
            count += 1
            if entry.place < first?.place ?? .max { first = entry }
        }
        return first.map { ($0.serial, count == 1) }
    }
}
