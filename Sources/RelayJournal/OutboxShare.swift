package import RelayCore

/// The deliveries of one sink that are not settled yet, bounded in count and bytes.
package struct OutboxShare {
    /// How much one sink may have waiting.
    package struct Limits: Sendable {
        /// The largest number of deliveries.
        package var count: Int
        /// The largest sum of `Delivery.byteCount`.
        package var bytes: Int

        /// Creates limits; the defaults are 100 000 deliveries and 256 MB.
        package init(count: Int = 100_000, bytes: Int = 256_000_000) {
            self.count = count
            self.bytes = bytes
        }
    }

    /// A delivery with what the journal knows of it.
    private struct Entry {
        var delivery: Delivery
        var acceptedAt: Instant
        var attempts = 0
        /// How many claims ended without a settlement: after five the delivery is held to have killed the relay.
        var unsettledClaims = 0
        var state = State.due
    }

    private enum State: Equatable {
        /// To be claimed now; its serial is in `ready`.
        case due
        /// Not before this instant; it is in `waiting`.
        case waiting(until: Instant)
        /// With a worker, until the lease ends.
        case claimed(token: UInt64, until: Instant)
    }

    private static let allowedUnsettledClaims = 5

    private let limits: Limits
    private var entries: [UInt64: Entry] = [:]
    private var serials: [String: UInt64] = [:]
    private var claims: [UInt64: UInt64] = [:]
    /// Serials that are due, lowest first.
    private var ready = Heap<UInt64>()
    /// Deliveries that wait for their retry, by due time.
    private var waiting = Heap<Waiting>()
    private var byteCount = 0

    /// What became of the deliveries so far.
    package private(set) var counters = SinkCounters()

    /// Creates an empty share.
    package init(limits: Limits) {
        self.limits = limits
    }

    /// Stores a delivery under a serial that is higher than all before.
    package mutating func store(_ delivery: Delivery, serial: UInt64, at now: Instant) -> Acceptance {
        counters.effects += 1
        guard serials[delivery.key] == nil else {
            counters.suppressed += 1
            return .suppressed(.duplicate)
        }
        guard entries.count < limits.count, byteCount + delivery.byteCount <= limits.bytes else {
            counters.dead += 1
            return .outboxFull
        }
        byteCount += delivery.byteCount
        counters.pending += 1
        serials[delivery.key] = serial
        entries[serial] = Entry(delivery: delivery, acceptedAt: now)
        ready.insert(serial)
        return .stored
    }

    /// Claims the first delivery that is due, or returns nil.
    ///
    /// With `inOrder`, one that waits or is claimed holds back all behind it.
    package mutating func claim(token: UInt64, until: Instant, inOrder: Bool, at now: Instant) -> Claim? {
        while let first = waiting.first, first.until <= now {
            waiting.removeFirst()
            entries[first.serial]?.state = .due
            ready.insert(first.serial)
        }
        guard let serial = ready.first, var entry = entries[serial] else { return nil }
        if inOrder, let held = lowestHeldSerial, held < serial { return nil }
        ready.removeFirst()
        entry.attempts += 1
        entry.state = .claimed(token: token, until: until)
        entries[serial] = entry
        claims[token] = serial
        return Claim(delivery: entry.delivery, attempt: entry.attempts, acceptedAt: entry.acceptedAt, token: token)
    }

    /// When a delivery that cannot be claimed now should be asked for again.
    package func nextDue(inOrder: Bool) -> Instant? {
        let retry = waiting.first?.until
        let lease = claims.values.compactMap { serial -> Instant? in
            if case .claimed(_, let until)? = entries[serial]?.state { return until }
            return nil
        }.min()
        guard inOrder, let held = lowestHeldSerial, let entry = entries[held] else {
            return [retry, lease].compactMap(\.self).min()
        }
        switch entry.state {
        case .waiting(let until), .claimed(_, let until): return until
        case .due: return retry
        }
    }

    /// Settles a claim; returns whether the token still held it.
    package mutating func settle(_ token: UInt64, _ settlement: Settlement) -> Bool {
        guard let serial = claims.removeValue(forKey: token) else { return false }
        switch settlement {
        case .delivered:
            counters.delivered += 1
            remove(serial)
        case .dead:
            counters.dead += 1
            remove(serial)
        case .retry(let until, _):
            entries[serial]?.state = .waiting(until: until)
            entries[serial]?.unsettledClaims = 0
            waiting.insert(Waiting(until: until, serial: serial))
        case .released:
            entries[serial]?.attempts -= 1
            entries[serial]?.state = .due
            ready.insert(serial)
        }
        return true
    }

    /// Makes deliveries whose worker did not settle them in time due again, or dead after five such claims.
    package mutating func takeBackExpiredClaims(at now: Instant) {
        for (token, serial) in claims {
            guard case .claimed(_, let until)? = entries[serial]?.state, until <= now else { continue }
            claims.removeValue(forKey: token)
            entries[serial]?.unsettledClaims += 1
            if entries[serial]?.unsettledClaims == Self.allowedUnsettledClaims {
                counters.dead += 1
                remove(serial)
            } else {
                entries[serial]?.state = .due
                ready.insert(serial)
            }
        }
    }

    /// The lowest serial that waits or is claimed.
    ///
    /// Only asked for sinks in order, of which few are held at a time.
    private var lowestHeldSerial: UInt64? {
        [waiting.elements.lazy.map(\.serial).min(), claims.values.min()].compactMap(\.self).min()
    }

    private mutating func remove(_ serial: UInt64) {
        guard let entry = entries.removeValue(forKey: serial) else { return }
        serials.removeValue(forKey: entry.delivery.key)
        byteCount -= entry.delivery.byteCount
        counters.pending -= 1
    }
}

/// A delivery that waits for its retry.
private struct Waiting: Comparable {
    var until: Instant
    var serial: UInt64

    static func < (left: Waiting, right: Waiting) -> Bool {
        (left.until, left.serial) < (right.until, right.serial)
    }
}
