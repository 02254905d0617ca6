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
        /// To the journal, under the sink's name.
        case journal(String)
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
    private let rules: RuleSet
    private let outlets: [Outlet]
    private let accepter: Accepter
    private let clock: any RelayClock
    private let log: Log
    private var decoder: EventDecoder
    private var seen: SeenEvents
    private var batch: EventBatch
    private var effects: [Effect] = []
    private var notice = Notice()
    private var receivedAt: Instant?
    private var onEvents: (@MainLoop (Int) -> Void)?

    /// What was counted so far.
    private(set) var counters = Counters()

    /// Creates the flow of one stream.
    ///
    /// `outlets` has one for each sink of `rules`, in its order; `onEvents` is told how many events have been decided in
    /// all, after every read that brought some.
    init(
        _ stream: RelayConfiguration.Stream, rules: RuleSet, outlets: [Outlet], accepter: Accepter,
        clock: any RelayClock, log: Log, onEvents: (@MainLoop (Int) -> Void)? = nil
    ) {
        self.stream = stream.connection.name
        self.rules = rules
        self.outlets = outlets
        self.accepter = accepter
        self.clock = clock
        self.log = log
        self.onEvents = onEvents
        let ids = IDSource(stream: self.stream, random: .random(in: .min ... .max), connection: 0)
        decoder = EventDecoder(format: stream.format, ids: ids)
        seen = SeenEvents(seed: .random(in: .min ... .max))
        batch = EventBatch(stream: self.stream)
    }

    func opened(connection number: Int, hiding secrets: [Secret]) {
        decoder.secrets = secrets
        decoder.ids.begin(connection: UInt64(number))
    }

    func message(_ bytes: UnsafeRawBufferPointer, isText: Bool) {
        let now = receivedAt ?? clock.wallNow()
        receivedAt = now
        let outcome = decoder.decode(bytes.bytes, receivedAt: now, into: &batch)
        for report in outcome.reports {
            log(.warning, "stream", report.fault.sentence, [("stream", stream), ("content", report.excerpt)])
        }
    }

    func chunkEnded() {
        receivedAt = nil
        guard !batch.records.isEmpty else { return }
        for index in batch.records.indices {
            let record = batch.records[index]
            if record.hasServerID, !seen.insert(record.identity) {
                counters.duplicates += 1
            } else {
                take(batch[index])
            }
        }
        counters.events += batch.records.count
        batch.removeAll()
        for outlet in outlets {
            if case .lines(let lines) = outlet { lines.flush() }
        }
        accepter.wake()
        onEvents?(counters.events)
    }

    /// Decides one event and hands on its effects.
    private func take(_ event: Event) {
        effects.removeAll(keepingCapacity: true)
        rules.decide(event, into: &effects)
        var deliveries: [Delivery] = []
        for effect in effects {
            if case .suppress(let receipt) = effect.action {
                counters.receipts[receipt, default: 0] += 1
                continue
            }
            rules.render(effect, event, into: &notice)
            switch outlets[effect.sink] {
            case .lines(let lines): lines.append(notice, event)
            case .journal(let sink):
                let kept = deliveries.first?.event ?? event.compacted()
                let key = DeliveryKey.event(kept, rule: notice.rule, sink: sink)
                deliveries.append(Delivery(key: key, sink: sink, notice: notice, event: kept))
            }
        }
        if let first = deliveries.first { accepter.add(Intake(event: first.event, deliveries: deliveries)) }
    }
}
