import GLibRuntime
import RelayCore
import RelayJournal
import RelayRules
import RelaySinks
import RelayTestKit
import Testing

@testable import RelayApp

/// The same events give the same deliveries in virtual time as on the way that `run` takes: flow, accepter, journal and
/// the timer of its deadlines, on a clock that the test moves.
@Suite(.timeLimit(.minutes(3)))
@MainLoop
struct TrialSameAsRunTests {
    @Test func theSameEventsGiveTheSameDeliveries() async throws {
        var deliveries = 0
        for seed: UInt64 in 0..<1000 {
            var generator = SeededGenerator(seed: seed)
            let rules = RandomTrial.rules(using: &generator)
            let events = RandomTrial.events(using: &generator)
            let problems = Problems()
            guard let configuration = RelayConfiguration.read(Array(rules.utf8), problems: problems) else {
                Issue.record("seed \(seed): \(problems.lines(file: "rules"))\n\(rules)")
                return
            }
            let tried = try Self.tried(configuration, events)
            let ran = await Self.ran(configuration, events)
            guard tried == ran else {
                let difference = zip(tried, ran).first { $0 != $1 }
                Issue.record(
                    "seed \(seed): \(tried.count) and \(ran.count), \(String(describing: difference))\n\(rules)\n\(events.map { String(decoding: $0.json, as: UTF8.self) }.joined(separator: "\n"))"
                )
                return
            }
            deliveries += ran.count
        }
        #expect(deliveries > 1000)
    }

    /// What each sink got in virtual time: a line a delivery.
    private static func tried(_ configuration: RelayConfiguration, _ events: [RandomTrial.Event]) throws -> [String] {
        let recorder = DeliveryRecorder(sinks: nil, most: .max)
        let relay = VirtualRelay(configuration, observer: recorder)
        let source = EventSource(configuration.streams)
        for event in events {
            try source.read(event.json, line: 1, now: Instant(milliseconds: 0), complain: { _ in }) { found in
                let instant = max(relay.now ?? found.event.record.createdAt, found.event.record.createdAt)
                if found.isRepeated { try relay.advance(to: instant) } else { try relay.take(found.event, at: instant) }
            }
        }
        let isClosed = try relay.runOn()
        #expect(isClosed && relay.open.isEmpty)
        return bySink(recorder.seen.map { line($0.delivery, at: $0.at) })
    }

    /// What each sink got on the way of `run`.
    private static func ran(_ configuration: RelayConfiguration, _ events: [RandomTrial.Event]) async -> [String] {
        guard let first = events.first else { return [] }
        let clock = TestClock(first.at)
        let log = Log(level: .error) { _ in }
        let plan = configuration.rules.plan
        let journal = DeliveringJournal(plan)
        let accepter = Accepter(journal: journal, plan: plan, clock: clock, log: log)
        let timer = DigestTimer(journal: journal, clock: clock, log: log)
        accepter.onDeadline = { timer.note($0) }
        let flow = EventFlow(
            configuration.streams[0], saved: nil, rules: RulesInForce(configuration, plan: plan, output: nil),
            accepter: accepter,
            receipts: ReceiptTable(), clock: clock, log: log)
        await withTaskGroup(of: Void.self) { group in
            group.addLoopTask { await accepter.run() }
            group.addLoopTask { await timer.run() }
            for event in events {
                await pass(to: event.at, clock, journal)
                let effects = journal.expects(event, configuration)
                let accepted = journal.accepted
                flow.received(event.json, messagesAt: [0..<event.json.count])
                flow.chunkEnded()
                if effects { await journal.change { journal.accepted > accepted } }
            }
            await pass(to: .distantFuture, clock, journal)
            group.cancelAll()
        }
        return bySink(journal.lines)
    }

    /// Moves the clock on, and waits at each deadline until the timer has closed what is due.
    private static func pass(to instant: Instant, _ clock: TestClock, _ journal: DeliveringJournal) async {
        while let deadline = journal.deadline, deadline <= instant {
            clock.advance(to: deadline)
            await journal.change { journal.advancedTo >= deadline }
        }
        if instant < .distantFuture { clock.advance(to: instant) }
    }

    /// The lines of each sink in their order: between sinks there is none.
    private static func bySink(_ lines: [String]) -> [String] {
        ["a", "b"].flatMap { sink in lines.filter { $0.hasPrefix(sink) } }
    }

    static func line(_ delivery: Delivery, at instant: Instant) -> String {
        var bytes = Array("\(delivery.sink) \(TimestampText.format(instant)) \(delivery.key) ".utf8)
        NoticeLine.append(delivery, sink: delivery.sink, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The memory journal, with workers that deliver at once whatever it stores.
@MainLoop
private final class DeliveringJournal: Journal {
    /// A line for each delivery.
    private(set) var lines: [String] = []
    /// How many groups of intakes were accepted.
    private(set) var accepted = 0
    /// How far the journal was told that time is.
    private(set) var advancedTo = Instant(milliseconds: .min)
    /// When something is due next.
    private(set) var deadline: Instant?
    private let inner: MemoryJournal
    private let sinkNames: [String]
    private let bell = Doorbell()
    private var seen: Set<String> = []

    init(_ plan: EffectPlan) {
        inner = MemoryJournal(plan: plan)
        sinkNames = plan.sinkNames
    }

    /// Whether an event will reach the journal: it is new, and a rule asks for a delivery.
    func expects(_ event: RandomTrial.Event, _ configuration: RelayConfiguration) -> Bool {
        guard seen.insert(event.id).inserted else { return false }
        var effects: [Effect] = []
        var batch = Fixtures.event(id: event.id, kind: event.kind, actor: event.actor, post: event.post)
        batch.record.createdAt = event.at
        configuration.rules.decide(batch, at: event.at, into: &effects)
        return effects.contains { $0.action == .deliver }
    }

    /// Returns when `isWanted` holds, which only what the journal is asked can bring about.
    func change(until isWanted: () -> Bool) async {
        while !isWanted() { await bell.wait() }
    }

    func savedProgress(of stream: String) -> StreamProgress? { nil }

    func accept(
        _ intakes: [Intake], progress: [StreamProgress], at now: Moment
    ) throws(JournalFailure) -> [[Acceptance]] {
        let acceptances = try inner.accept(intakes, at: now)
        deliver(at: now)
        for acceptance in acceptances.joined() {
            switch acceptance {
            case .gathered(.relay(let until)), .gathered(.wall(let until)), .held(_, let until):
                deadline = min(deadline ?? until, until)
            case .stored, .suppressed, .outboxFull: break
            }
        }
        accepted += 1
        bell.ring()
        return acceptances
    }

    func advance(to now: Moment) throws(JournalFailure) -> [Deadline] {
        let deadlines = try inner.advance(to: now)
        deliver(at: now)
        deadline = deadlines.map { now.relay + $0.distance(from: now) }.min()
        advancedTo = now.relay
        bell.ring()
        return deadlines
    }

    private func deliver(at now: Moment) {
        for sink in sinkNames {
            let claims = inner.claim(ClaimRequest(sink: sink, upTo: .max, lease: .seconds(1)), at: now.relay).claims
            lines += claims.map { TrialSameAsRunTests.line($0.delivery, at: now.relay) }
            inner.settle(claims.map { SettledClaim($0, .delivered) }, at: now.relay)
        }
    }

    func adopt(_ plan: EffectPlan, at now: Moment) throws(JournalFailure) { try inner.adopt(plan, at: now) }

    func addSilence(_ matcher: Silence.Matcher, until: Instant, at now: Moment) throws(SilenceFault) -> Silence {
        try inner.addSilence(matcher, until: until, at: now)
    }

    func removeSilence(_ id: UInt64, at now: Moment) -> Bool { inner.removeSilence(id, at: now) }

    func silences(at now: Moment) -> [Silence] { inner.silences(at: now) }

    func claim(_ request: ClaimRequest, at now: Instant) -> ClaimBatch { inner.claim(request, at: now) }

    func settle(_ settlements: [SettledClaim], at now: Instant) -> Int { inner.settle(settlements, at: now) }

    func giveUp(sink: String, acceptedBy limit: Instant, at now: Instant) -> GivenUp {
        inner.giveUp(sink: sink, acceptedBy: limit, at: now)
    }

    func outbox(_ selection: OutboxSelection, limit: Int) -> [OutboxEntry] { inner.outbox(selection, limit: limit) }

    func retry(_ selection: OutboxSelection, to sink: String?, at now: Instant) throws(JournalFailure) -> Int {
        try inner.retry(selection, to: sink, at: now)
    }

    func drop(_ selection: OutboxSelection, at now: Instant) -> Int { inner.drop(selection, at: now) }

    func outboxFull() -> [OutboxFullCount] { inner.outboxFull() }

    func counters() -> [String: SinkCounters] { inner.counters() }

    func receipts() -> [ReceiptCount] { inner.receipts() }

    func overflows() -> OverflowCounters { inner.overflows() }

    func bell(for sink: String) -> Doorbell { inner.bell(for: sink) }

    func finish(at now: Moment) throws(JournalFailure) { try inner.finish(at: now) }

    func close() { inner.close() }
}

/// Random rules with everything the journal does, and random events for them.
enum RandomTrial {
    /// One event.
    struct Event: Sendable {
        /// Its id.
        var id: String
        /// Its kind.
        var kind: String
        /// Its actor.
        var actor: String
        /// Its post.
        var post: String
        /// When it comes.
        var at: Instant
        /// What comes over the wire.
        var json: [UInt8]
    }

    private static let fields = ["kind", "actor", "post"]

    /// Returns a rules file of one to four rules.
    static func rules(using generator: inout SeededGenerator) -> String {
        let count = Int.random(in: 1...4, using: &generator)
        let rules = (0..<count).map { rule($0, using: &generator) }
        return """
            {"streams": {"chirp": {"url": "wss://example.com/", "token": {"env": "T"}}},
             "times": {"night": {"from": "22:00", "to": "07:00", "zone": "Europe/Berlin"},
                       "lunch": {"from": "12:00", "to": "12:30", "zone": "UTC", "days": ["mon", "sun"]}},
             "sinks": {"a": {"type": "webhook", "url": {"env": "A"}}, "b": {"type": "webhook", "url": {"env": "B"}}},
             "rules": [\(rules.joined(separator: ",\n"))]}
            """
    }

    private static func rule(_ number: Int, using generator: inout SeededGenerator) -> String {
        var parts = ["\"name\": \"r\(number)\""]
        func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }
        func pick(_ texts: [String]) -> String { texts.randomElement(using: &generator) ?? "" }
        func list(_ names: [String]) -> String { "[\(names.map { "\"\($0)\"" }.joined(separator: ", "))]" }
        if oneIn(2) { parts.append(#""when": {"kind": "\#(pick(["like", "comment"]))"}"#) }
        if oneIn(8) { return "{" + (parts + ["\"drop\": true"]).joined(separator: ", ") + "}" }
        parts.append("\"to\": \(pick(["[\"a\"]", "[\"b\"]", "[\"a\", \"b\"]"]))")
        if oneIn(2) { parts.append("\"continue\": true") }
        if oneIn(4) {
            parts.append(#""repeat": {"by": \#(list([pick(fields)])), "within": "\#(pick(["10s", "5m", "1h"]))"}"#)
        }
        let by = fields.filter { _ in oneIn(2) }
        let hasDigest = oneIn(2)
        if hasDigest {
            let at = #""at": \#(pick([#"["09:00"]"#, #"["12:15", "06:00"]"#])), "zone": "Europe/Berlin""#
            let window = #""window": "\#(pick(["10s", "1m", "1h"]))""#
            let timing = oneIn(4) ? at : window
            var digest = [timing] + (by.isEmpty ? [] : ["\"by\": \(list(by))"])
            if oneIn(3) { digest.append("\"max\": \(Int.random(in: 1...4, using: &generator))") }
            if timing == window, oneIn(2) { digest.append("\"first\": \"now\"") }
            parts.append("\"digest\": {\(digest.joined(separator: ", "))}")
        }
        if oneIn(2) {
            let limitBy = by.filter { _ in !hasDigest || oneIn(2) }
            let max = Int.random(in: 1...3, using: &generator)
            let excess = pick(["drop", "digest"])
            let byText = limitBy.isEmpty ? "" : "\"by\": \(list(limitBy)), "
            let per = pick(["10s", "1m", "30m"])
            parts.append(
                "\"limit\": {\"max\": \(max), \"per\": \"\(per)\", \(byText)\"excess\": \"\(excess)\"}")
        }
        if oneIn(3) { parts.append("\"hold\": \"\(pick(["night", "lunch"]))\"") }
        return "{" + parts.joined(separator: ", ") + "}"
    }

    /// Returns up to 25 events, some at the same time and some with the id of another.
    static func events(using generator: inout SeededGenerator) -> [Event] {
        // Before the changes of the clocks in spring and in autumn, and at noon of a Sunday.
        let starts: [Int64] = [1_774_735_200_000, 1_792_879_200_000, 1_793_534_340_000]
        var time = starts.randomElement(using: &generator) ?? 0
        let steps: [Int64] = [0, 0, 1, 1000, 5000, 10_000, 30_000, 60_000, 600_000, 3_600_000, 25_200_000]
        return (0..<Int.random(in: 1...25, using: &generator)).map { _ in
            time += steps.randomElement(using: &generator) ?? 0
            let id = "e\(Int.random(in: 0..<60, using: &generator))"
            let kind = ["like", "comment", "follow"].randomElement(using: &generator) ?? ""
            let actor = ["ann", "ANN", "bo"].randomElement(using: &generator) ?? ""
            let post = ["p1", "p2"].randomElement(using: &generator) ?? ""
            let at = Instant(milliseconds: time)
            let json =
                #"{"id":"\#(id)","kind":"\#(kind)","actorUsername":"\#(actor)","postID":"\#(post)","#
                + #""createdAt":"\#(TimestampText.format(at))"}"#
            return Event(id: id, kind: kind, actor: actor, post: post, at: at, json: Array(json.utf8))
        }
    }
}
