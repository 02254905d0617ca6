import GLibRuntime
import RelayCore
import RelayJournal
import RelayTestKit
import Testing

/// A journal with a plan, driven in seconds since midnight of a Tuesday.
struct Story {
    let journal: any Journal
    /// 2030-01-01T00:00:00Z.
    static let midnight = Instant(milliseconds: 1_893_456_000_000)
    static let utc = Zone(named: "UTC")

    init(
        _ make: JournalContract.Make, _ policies: [EffectPolicy], sinks: [String] = ["sink", "other"],
        times: [String: QuietTime] = [:], limits: OutboxShare.Limits = OutboxShare.Limits(),
        bounds: LedgerBounds = LedgerBounds()
    ) async throws {
        journal = try await make(Fixtures.plan(policies, sinks: sinks, times: times), limits, bounds)
    }

    static func moment(_ seconds: Double, wall: Double? = nil) -> Moment {
        Moment(relay: instant(seconds), wall: instant(wall ?? seconds))
    }

    static func instant(_ seconds: Double) -> Instant { midnight + .milliseconds(Int64(seconds * 1000)) }

    /// A quiet time from one hour to another, in UTC.
    static func night(_ from: Int = 22, _ to: Int = 7) throws -> QuietTime {
        QuietTime(from: from * 60, to: to * 60, zone: try #require(utc))
    }

    /// Offers one event with an effect of one rule for one sink.
    func offer(
        _ id: String, kind: String = "like", actor: String? = "ann", post: String? = nil, stream: String = "chirp",
        rule: Int = 0, sink: Int = 0, at seconds: Double, wall: Double? = nil
    ) async throws -> Acceptance {
        let event = Fixtures.event(
            id: id, kind: kind, actor: actor, post: post, stream: stream, at: Self.instant(seconds))
        let intake = Intake(event: event, effects: [Effect(rule: rule, sink: sink, action: .deliver)])
        let acceptances = try await journal.accept([intake], at: Self.moment(seconds, wall: wall))
        await checkCounters()
        return try #require(acceptances.first?.first)
    }

    /// Puts another plan in force.
    func adopt(
        _ policies: [EffectPolicy], sinks: [String] = ["sink", "other"], times: [String: QuietTime] = [:],
        at seconds: Double
    ) async throws {
        let plan = Fixtures.plan(policies, sinks: sinks, times: times)
        try await journal.adopt(plan, at: Self.moment(seconds))
        await checkCounters()
    }

    @discardableResult
    func advance(to seconds: Double, wall: Double? = nil) async throws -> [Deadline] {
        let deadlines = try await journal.advance(to: Self.moment(seconds, wall: wall))
        await checkCounters()
        return deadlines
    }

    /// Delivers all that is due to a sink, and returns what it reads: the id of an event, the count of a digest, the
    /// time and the count of a briefing, with what was suppressed after a plus.
    func delivered(to sink: String = "sink") async -> [String] {
        let batch = await journal.claim(
            ClaimRequest(sink: sink, upTo: 1000, lease: .seconds(60)), at: Self.instant(1_000_000))
        await journal.settle(batch.claims.map { SettledClaim($0, .delivered) }, at: Self.instant(1_000_000))
        await checkCounters()
        return batch.claims.map { claim in
            let notice = claim.delivery.notice
            return notice.title.string + (notice.suppressed > 0 ? "+\(notice.suppressed)" : "")
        }
    }

    /// Claims deliveries.
    func claim(
        _ count: Int = 5000, from sink: String = "sink", inOrder: Bool = false, backlog: BacklogPolicy? = nil,
        at seconds: Double
    ) async -> ClaimBatch {
        let batch = await journal.claim(
            ClaimRequest(sink: sink, upTo: count, lease: .seconds(60), inOrder: inOrder, backlog: backlog),
            at: Self.instant(seconds))
        await checkCounters()
        return batch
    }

    /// Settles claims alike, and returns how many were stale.
    @discardableResult
    func settle(
        _ claims: [Claim], _ settlement: Settlement, pausedUntil: Double? = nil, at seconds: Double
    ) async -> Int {
        let until = pausedUntil.map(Self.instant)
        let settled = claims.map { SettledClaim($0, settlement, pausedUntil: until) }
        let stale = await journal.settle(settled, at: Self.instant(seconds))
        await checkCounters()
        return stale
    }

    /// What is in the outbox, as it reads: the title and the state, with the error behind a colon.
    func outbox(_ selection: OutboxSelection = OutboxSelection(), limit: Int = 1000) async -> [String] {
        await journal.outbox(selection, limit: limit).map { entry in
            let state =
                switch entry.state {
                case .due: "due"
                case .waiting: "waiting"
                case .claimed: "claimed"
                case .dead: "dead"
                }
            let aside = entry.isAside ? " aside" : ""
            return entry.delivery.notice.title.string + " " + state + aside + (entry.lastError.map { ": \($0)" } ?? "")
        }
    }

    /// The serial of the delivery with this title.
    func serial(of title: String, sink: String = "sink") async throws -> UInt64 {
        let entries = await journal.outbox(OutboxSelection(sink: sink), limit: 1000)
        return try #require(entries.first { $0.delivery.notice.title.string == title }).serial
    }

    func retry(_ selection: OutboxSelection = OutboxSelection(), to sink: String? = nil, at seconds: Double)
        async throws
        -> Int
    {
        let count = try await journal.retry(selection, to: sink, at: Self.instant(seconds))
        await checkCounters()
        return count
    }

    func drop(_ selection: OutboxSelection = OutboxSelection(), at seconds: Double) async throws -> Int {
        let count = try await journal.drop(selection, at: Self.instant(seconds))
        await checkCounters()
        return count
    }

    func counters(of sink: String = "sink") async -> SinkCounters {
        await journal.counters()[sink] ?? SinkCounters()
    }

    func receipts(_ receipt: Receipt) async -> Int {
        await journal.receipts().filter { $0.receipt == receipt }.reduce(0) { $0 + $1.count }
    }

    func checkCounters() async {
        for (sink, counters) in await journal.counters() {
            let sum = counters.delivered + counters.suppressed + counters.pending + counters.dead
            #expect(counters.effects == sum, "\(sink)")
        }
    }
}

/// When something closes, by relay time.
func until(_ seconds: Double) -> Acceptance { .gathered(until: .relay(Story.instant(seconds))) }
