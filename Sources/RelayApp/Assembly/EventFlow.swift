internal import GLibRuntime
internal import RelayCore
internal import RelayRules
internal import RelayStream

/// Takes what one stream brings through decoding, dedupe and rules to where its effects go.
///
/// It runs on the main loop inside the read callback, one read at a time, and never waits: lines go to the queue of
/// standard output at once, deliveries to the accepter, which commits them in groups.
@MainLoop
final class EventFlow: StreamHandler {
    /// Where the effects of one sink go.
    enum Outlet {
        /// To the lines of standard output, right after the decision.
        case lines(StdoutLines)
        /// To the journal.
        case journal
    }

    /// What the flow counted.
    struct Counters: Sendable, Equatable {
        /// Events that were decoded.
        var events = 0
        /// Events whose id had been seen before.
        var duplicates = 0
        /// Receipts by what they say.
        var receipts: [Receipt: Int] = [:]
    }

    private let stream: String
    private let clock: any RelayClock
    private let log: Log
    private let accepter: Accepter
    private var decoder: EventDecoder
    private var seen = SeenEvents(seed: .random(in: .min ... .max))
    private var batch: EventBatch
    private var decisions: Decisions
    private var receivedAt: Instant?
    private var onEvents: (@MainLoop (Int) -> Void)?
    private var events = 0
    private var duplicates = 0
    /// Rules of which it was told that a regular expression gave up.
    private var toldOverruns: Set<String> = []
    /// The events when `onEvents` was last called.
    private var toldEvents = 0

    /// What was counted so far.
    var counters: Counters { Counters(events: events, duplicates: duplicates, receipts: decisions.receipts) }

    /// Creates the flow of one stream.
    ///
    /// `outlets` has one for each sink of `rules`, in its order; `onEvents` is told how many events have been decided in
    /// all, after every read that brought some.
    init(
        _ stream: RelayConfiguration.Stream, rules: RuleSet, outlets: [Outlet], accepter: Accepter,
        clock: any RelayClock, log: Log, onEvents: (@MainLoop (Int) -> Void)? = nil
    ) {
        self.stream = stream.connection.name
        self.accepter = accepter
        self.clock = clock
        self.log = log
        self.onEvents = onEvents
        let ids = IDSource(stream: self.stream, random: .random(in: .min ... .max), connection: 0)
        decoder = EventDecoder(format: stream.format, ids: ids)
        batch = EventBatch(stream: self.stream)
        decisions = Decisions(rules: rules, outlets: outlets, accepter: accepter)
    }

    func opened(connection number: Int, hiding secrets: [Secret]) {
        decoder.secrets = secrets
        decoder.ids.begin(connection: UInt64(number))
    }

    func received(_ bytes: [UInt8], messagesAt places: [Range<Int>]) {
        defer { batch.removeAll() }
        let now = receivedAt ?? clock.wallNow()
        receivedAt = now
        let outcome = decoder.decode(bytes, at: places, receivedAt: now, into: &batch)
        for report in outcome.reports {
            log(.warning, "stream", report.fault.sentence, [("stream", stream), ("content", report.excerpt)])
        }
        guard !batch.records.isEmpty else { return }
        events += batch.records.count
        duplicates += seen.removeSeen(from: &batch.records)
        decisions.take(batch)
    }

    func chunkEnded() {
        receivedAt = nil
        guard events > toldEvents else { return }
        toldEvents = events
        decisions.flush()
        tellOverruns()
        accepter.wake()
        onEvents?(events)
    }

    /// Tells once a rule that its regular expression gave up, which counts as no match.
    private func tellOverruns() {
        for (rule, count) in decisions.patternOverruns where count > 0 && toldOverruns.insert(rule).inserted {
            log(
                .warning, "rules", "a regular expression took too long and counts as no match; write it more simply",
                [("rule", rule), ("stream", stream)])
        }
    }
}
