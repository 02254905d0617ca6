import RelayCore
import RelayTestKit

@testable import RelayJournal

extension JournalFolder {
    /// The folder as a kill of the process leaves it at this moment: what was written is there, nothing was closed.
    func killed() throws -> JournalFolder {
        let left = try JournalFolder()
        // The index of the log means nothing without the process that kept it.
        for name in names where name != "journal.db-shm" { left.write(bytes(of: name), to: name) }
        return left
    }
}

/// A journal on disk whose process is killed and started again.
struct KilledJournal {
    /// What a sink was asked to show.
    struct Told: Equatable, CustomStringConvertible {
        /// When, in minutes.
        var minute: Double
        var key: String
        /// How many effects it tells of.
        var count: Int
        /// All of it that a person or a program reads.
        var body: String

        init(_ delivery: Delivery, at minute: Double) {
            self.minute = minute
            (key, count) = (delivery.key, delivery.effects)
            body = "\(delivery.notice) \(delivery.content)"
        }

        var description: String { "\(count) at \(minute)" }
    }

    private let plan: EffectPlan
    private let history: HistoryPolicy
    private(set) var folder: JournalFolder
    private(set) var journal: SQLiteJournal
    private(set) var told: [Told] = []

    init(_ policies: [EffectPolicy], history: HistoryPolicy = HistoryPolicy(), at minute: Double = 0) async throws {
        plan = Fixtures.plan(policies, sinks: ["sink"])
        self.history = history
        folder = try JournalFolder()
        journal = try await folder.open(plan, history: history, at: Self.moment(minute)).journal
    }

    static func moment(_ minute: Double, wall: Double? = nil) -> Moment {
        Story.moment(minute * 60, wall: (wall ?? minute) * 60)
    }

    /// Kills the process, and starts another one then.
    mutating func restart(at minute: Double) async throws {
        let left = try folder.killed()
        await journal.close()
        folder = left
        let opened = try await folder.open(plan, history: history, at: Self.moment(minute))
        guard opened.notes.isEmpty else { throw Noted(notes: opened.notes) }
        journal = opened.journal
    }

    /// What was found wrong with the file although nothing is.
    private struct Noted: Error {
        var notes: [JournalNote]
    }

    /// Receives an event, which rule 0 wants told unless another is named; `wall` are minutes too.
    @discardableResult
    mutating func offer(
        _ id: String, rule: Int = 0, at minute: Double, wall: Double? = nil
    ) async throws -> Acceptance? {
        let now = Self.moment(minute, wall: wall)
        let event = Fixtures.event(id: id, at: now.wall)
        let intake = Intake(event: event, effects: [Effect(rule: rule, sink: 0, action: .deliver)])
        let progress = StreamProgress(stream: "chirp", seen: [event.record.identity])
        return try await journal.accept([intake], progress: [progress], at: now).first?.first
    }

    /// Lets happen what is due then, and hands what is to be delivered to the sink.
    ///
    /// - Returns: how many effects it was told of.
    @discardableResult
    mutating func deliver(
        _ settlement: Settlement? = .delivered, at minute: Double, wall: Double? = nil
    ) async throws -> Int {
        let now = Self.moment(minute, wall: wall)
        _ = try await journal.advance(to: now)
        let request = ClaimRequest(sink: "sink", upTo: 1000, lease: .seconds(60))
        let claims = await journal.claim(request, at: now.relay).claims
        if let settlement { await journal.settle(claims.map { SettledClaim($0, settlement) }, at: now.relay) }
        told += claims.map { Told($0.delivery, at: minute) }
        return claims.reduce(0) { $0 + $1.delivery.effects }
    }

    func counters() async -> SinkCounters { await journal.counters()["sink"] ?? SinkCounters() }
}
