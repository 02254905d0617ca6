internal import RelayCore

/// A delivery whose turn it is.
struct Turn: Comparable, Sendable {
    var place: UInt64
    var serial: UInt64

    static func < (left: Turn, right: Turn) -> Bool { (left.place, left.serial) < (right.place, right.serial) }
}

/// A delivery that waits for its retry.
struct Waiting: Comparable, Sendable {
    var until: Instant
    var place: UInt64
    var serial: UInt64

    static func < (left: Waiting, right: Waiting) -> Bool {
        (left.until, left.place, left.serial) < (right.until, right.place, right.serial)
    }
}

/// Which deliveries fail so that others may go past them.
///
/// After five failures of the kind that the delivery itself may cause, over a minute, the one behind it is tried once
/// for each further failure. If that succeeds, the failing one steps aside.
struct OutboxOrder: Sendable {
    private struct Failing: Sendable {
        var count = 0
        var first: Instant
        var last: Instant
        /// Whether the one behind was tried since the last failure.
        var wasPassed = false

        var isStuck: Bool { count >= OutboxOrder.failures && last - first >= OutboxOrder.stretch }
    }

    /// A claim that goes past a delivery.
    private struct Pass: Sendable {
        var token: UInt64
        var past: UInt64
    }

    private static let failures = 5
    private static let stretch = Duration.seconds(60)

    private var failing: [UInt64: Failing] = [:]
    private var pass: Pass?

    /// Whether the delivery behind this one may be tried.
    func canPass(_ serial: UInt64) -> Bool { failing[serial].map { $0.isStuck && !$0.wasPassed } ?? false }

    /// Notes a failure that a delivery may be the cause of.
    mutating func fail(_ serial: UInt64, at now: Instant) {
        var entry = failing[serial] ?? Failing(first: now, last: now)
        entry.count += 1
        entry.last = max(now, entry.last)
        entry.wasPassed = false
        failing[serial] = entry
    }

    /// Notes that a claim goes past a delivery.
    mutating func pass(_ serial: UInt64, by token: UInt64) {
        failing[serial]?.wasPassed = true
        pass = Pass(token: token, past: serial)
    }

    /// Ends a claim; if it went past a delivery and succeeded, returns that one, which steps aside.
    ///
    /// One that was not attempted may be tried again.
    mutating func end(_ token: UInt64, isDelivered: Bool, wasAttempted: Bool) -> UInt64? {
        guard let pass, pass.token == token else { return nil }
        self.pass = nil
        if !wasAttempted { failing[pass.past]?.wasPassed = false }
        return isDelivered ? pass.past : nil
    }

    /// Forgets a delivery that left.
    mutating func forget(_ serial: UInt64) {
        if failing.isEmpty { return }
        failing[serial] = nil
    }
}
