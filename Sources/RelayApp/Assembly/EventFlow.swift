internal import GLibRuntime
internal import RelayCore
internal import RelayRules
internal import RelaySinks
internal import RelayStream

/// Takes the events of one stream through dedupe and rules to where their effects go.
///
/// It runs on the main loop inside the read callback, a batch at a time, and never waits: lines go to the queue of
/// standard output at once, deliveries to the accepter, which commits them in groups.
@MainLoop
final class EventFlow {
    private let rules: RuleSet
    private let outlets: [Outlet]
    private let accepter: Accepter
    private var seen: SeenEvents
    private var decision = Decision()
    private var notice = Notice()

    /// What was counted so far.
    private(set) var counters = FlowCounters()

    /// Where the effects of one sink go.
    enum Outlet {
        /// To a queue of lines, right after the decision.
        case lines(StdoutLines)
        /// To the journal, under the sink's name.
        case journal(String)
    }

    /// Creates the flow of one stream.
    ///
    /// - Parameters:
    ///   - outlets: one for each sink of `rules`, in its order.
    ///   - remembering: how many event ids are remembered for dedupe.
    init(rules: RuleSet, outlets: [Outlet], accepter: Accepter, remembering: Int) {
        self.rules = rules
        self.outlets = outlets
        self.accepter = accepter
        seen = SeenEvents(capacity: remembering)
    }

    /// Decides every event of a batch and hands on its effects.
    func take(_ batch: borrowing EventBatch) {
        for index in batch.records.indices {
            let record = batch.records[index]
            counters.events += 1
            if record.hasServerID, !seen.insert(record.identity) {
                counters.duplicates += 1
                continue
            }
            take(batch[index])
        }
        for outlet in outlets {
            if case .lines(let lines) = outlet { lines.flush() }
        }
        accepter.wake()
    }

    private func take(_ event: Event) {
        rules.decide(event, into: &decision)
        var deliveries: [Delivery] = []
        var kept: Event?
        for effect in decision.effects {
            guard effect.action == .deliver else {
                counters.receipts[effect.action, default: 0] += 1
                continue
            }
            rules.render(effect, event, into: &notice)
            switch outlets[effect.sink] {
            case .lines(let lines): lines.append(notice, event)
            case .journal(let sink):
                let event = kept ?? event.compacted()
                kept = event
                let key = DeliveryKey.event(event, rule: notice.rule, sink: sink)
                deliveries.append(Delivery(key: key, sink: sink, notice: notice, event: event))
            }
        }
        guard !deliveries.isEmpty, let kept else { return }
        accepter.add(Intake(event: kept, deliveries: deliveries))
    }
}

/// What one stream's flow counted.
struct FlowCounters: Sendable, Equatable {
    /// Events that were decoded.
    var events = 0
    /// Events whose id had been seen before.
    var duplicates = 0
    /// Receipts by what they say.
    var receipts: [Effect.Action: Int] = [:]
}
