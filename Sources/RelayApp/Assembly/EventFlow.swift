internal import GLibRuntime
internal import RelayCore
internal import RelayJournal
internal import RelayRules
internal import RelayStream

/// Takes what one stream brings through decoding, dedupe and rules to where its effects go.
///
/// It runs on the main loop inside the read callback, one read at a time, and never waits: lines go to the queue of
/// standard output at once, deliveries to the accepter, which commits them in groups.
@MainLoop
final class EventFlow: StreamHandler, CatchUpHandler {
    /// What the flow counted.
    struct Counters: Sendable, Equatable {
        /// Events that were decoded.
        var events = 0
        /// Events whose id had been seen before.
        var duplicates = 0

        /// Adds the counters of another flow.
        mutating func add(_ other: Counters) {
            events += other.events
            duplicates += other.duplicates
        }
    }

    private let stream: String
    private let clock: any RelayClock
    private let log: Log
    private let accepter: Accepter
    private let receipts: ReceiptTable
    private let random: UInt64
    private var decoder: EventDecoder
    private var seen: SeenEvents
    private var batch: EventBatch
    /// What is not saved yet; nil if nobody needs it: there is no state, and no catch-up.
    private var progress: FlowProgress?
    private var decisions: Decisions
    private var receivedAt: Instant?
    private var onEvents: (@MainLoop (Int) -> Void)?
    private var events = 0
    private var duplicates = 0
    /// Rules of which it was told that a regular expression gave up.
    private var toldOverruns: Set<String> = []
    /// The events when `onEvents` was last called.
    private var toldEvents = 0

    /// The connections so far, over all readers of the stream.
    private var connections: UInt64 = 0

    /// What was counted so far.
    var counters: Counters { Counters(events: events, duplicates: duplicates) }

    /// The receipts of the rules in force; those of earlier ones are in the table already.
    var openReceipts: [ReceiptCount] { decisions.receipts }

    /// Creates the flow of one stream.
    ///
    /// `saved` is what the journal has of the stream; nil if it keeps nothing at all. `receipts` is where receipts are
    /// kept when rules go out of force; `onEvents` is told how many events have been
    /// decided in all, after every read that brought some.
    init(
        _ stream: RelayConfiguration.Stream, saved: StreamProgress?, rules: RulesInForce, accepter: Accepter,
        receipts: ReceiptTable,
        clock: any RelayClock, log: Log, onEvents: (@MainLoop (Int) -> Void)? = nil
    ) {
        self.stream = stream.connection.name
        self.accepter = accepter
        self.receipts = receipts
        self.clock = clock
        self.log = log
        self.onEvents = onEvents
        random = .random(in: .min ... .max)
        decoder = EventDecoder(
            format: stream.format, ids: IDSource(stream: self.stream, random: random, connection: 0))
        batch = EventBatch(stream: self.stream)
        decisions = Decisions(rules, accepter: accepter)
        let ids = max(StreamProgress.mostSeen, stream.connection.catchUp?.maxEvents ?? 0)
        seen = SeenEvents(capacity: ids, seed: .random(in: .min ... .max))
        for id in saved?.seen ?? [] { _ = seen.insert(id) }
        progress = saved.map { FlowProgress(saved: $0) }
        keepProgress(of: stream)
    }

    /// Keeps at least in memory where a catch-up begins.
    private func keepProgress(of stream: RelayConfiguration.Stream) {
        guard progress == nil, stream.connection.catchUp != nil else { return }
        progress = FlowProgress(saved: StreamProgress(stream: self.stream))
    }

    /// Takes what can be saved once everything before a position is safe; nil if that is nothing.
    func takeProgress(before position: FlowProgress.Position) -> StreamProgress? {
        progress?.take(before: position)
    }

    /// Whether something waits to be saved.
    var hasProgress: Bool { progress?.isEmpty == false }

    /// Decides by these rules from the next event on; the ids that were seen stay.
    func adopt(_ rules: RulesInForce) {
        decisions.flush()
        receipts.add(decisions.receipts)
        let former = decisions
        decisions = Decisions(rules, accepter: accepter)
        decisions.follow(former)
    }

    /// Reads the messages of a stream as the file now says, from the next connection on.
    func adopt(_ stream: RelayConfiguration.Stream) {
        keepProgress(of: stream)
        // What is missing stays so: nobody fetches it any more.
        if stream.connection.catchUp == nil { progress?.endCatchUp() }
        decoder = EventDecoder(
            format: stream.format, ids: IDSource(stream: self.stream, random: random, connection: connections))
    }

    /// Moves the receipts into the table, as the flow ends.
    func close() {
        decisions.flush()
        receipts.add(decisions.receipts)
    }

    /// The events with an id of which nothing was recorded, of the last ones.
    func recentStories(of id: EventID) -> [HistoryEntry] { decisions.recentStories(of: id) }

    /// Silences what these cover, on the fast path.
    func silence(_ silences: SilenceBook) {
        decisions.silences = silences
    }

    func opened(connection number: Int, hiding secrets: [Secret]) {
        decoder.secrets = secrets
        // A reader counts from 1; given ids must not come again with the next reader.
        connections += 1
        decoder.ids.begin(connection: connections)
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
        let recorded = take(&batch, at: now)
        progress?.add(live: batch, recorded: recorded)
    }

    /// Decides the events of a batch that had not been seen, and leaves them in it; returns how many became intakes.
    private func take(_ batch: inout EventBatch, at wall: Instant) -> Int {
        events += batch.records.count
        duplicates += seen.removeSeen(from: &batch.records)
        let added = accepter.added
        decisions.take(batch, at: wall)
        return accepter.added - added
    }

    func chunkEnded() {
        receivedAt = nil
        guard events > toldEvents else { return }
        decisions.flush()
        progress?.mark(at: position)
        finishTurn()
    }

    /// How far everything has come.
    private var position: FlowProgress.Position {
        FlowProgress.Position(intakes: accepter.added, lines: decisions.handedLines)
    }

    /// Lets others go on with what has been decided.
    private func finishTurn() {
        toldEvents = events
        tellOverruns()
        if progress != nil { accepter.noteProgress() }
        accepter.wake()
        onEvents?(events)
    }

    // MARK: Catch-up

    func catchUpBegan() -> StreamCursor? { progress?.beginCatchUp() }

    func caughtUp(_ batch: EventBatch) {
        var fresh = batch
        let recorded = take(&fresh, at: clock.wallNow())
        decisions.flush()
        progress?.add(caughtUp: batch, fresh: fresh, recorded: recorded)
        progress?.mark(at: position)
        finishTurn()
    }

    func catchUpEnded() {
        progress?.endCatchUp()
        accepter.noteProgress()
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
