internal import GLibRuntime
internal import RelayCore
internal import RelayJournal
internal import RelayStream

/// Recorded events on their way through other rules, and the count of both.
@MainLoop
final class ReplayRun: VirtualRelayObserver {
    /// What the recorded effects led to.
    private(set) var recorded = RecordedCount()
    /// What the other rules lead to.
    private(set) var replayed: ReplayComparison.Counts = [:]
    /// How many events were replayed, and when the first and the last were received.
    private(set) var events = 0
    private(set) var period: (first: Instant, last: Instant)?
    /// The streams of events that the other rules do not have.
    private(set) var foreignStreams: Set<String> = []
    private let reader: JournalReader
    private let streams: Set<String>

    /// How many events are read at a time.
    private static let step = 500

    /// Creates a run over the events of a journal.
    init(_ reader: JournalReader, _ configuration: RelayConfiguration) {
        self.reader = reader
        streams = Set(configuration.streams.map(\.connection.name))
    }

    /// Takes the events that were received since through a relay, up to the one that is the last now.
    ///
    /// - Throws: `CommandFault` (1) if the journal cannot be read.
    func feed(_ relay: VirtualRelay, since: Instant?, _ watch: ProgressWatch) throws(CommandFault) {
        let numbers = try JournalPlace.told { () throws(JournalReader.Fault) in
            try reader.recordedNumbers(since: since)
        }
        guard let numbers else { return }
        var next: UInt64? = numbers.first &- 1
        while let after = next, after &+ 1 <= numbers.last {
            let (events, end) = try JournalPlace.told { () throws(JournalReader.Fault) in
                let (read, end) = try reader.recorded(after: after, since: since, limit: Self.step)
                // What a running relay adds meanwhile would never end.
                let events =
                    read.last.map { $0.number > numbers.last } ?? false
                    ? read.filter { $0.number <= numbers.last } : read
                try recorded.add(events, from: reader)
                return (events, end)
            }
            for event in events {
                note(event)
                try TrialInput.journal { () throws(JournalFailure) in
                    try relay.take(event.event, at: event.receivedAt)
                }
                watch.count()
            }
            next = end
        }
    }

    private func note(_ event: RecordedEvent) {
        events += 1
        period = (period?.first ?? event.receivedAt, event.receivedAt)
        if !streams.contains(event.event.stream) { foreignStreams.insert(event.event.stream) }
    }

    func decided(_ event: Event, _ outcomes: [EffectOutcome], at instant: Instant) {}

    func delivered(_ delivery: Delivery, at instant: Instant) {
        let isBriefing = if case .briefing = delivery.content { true } else { false }
        let place = RecordedCount.Place(rule: isBriefing ? nil : delivery.notice.rule, sink: delivery.sink)
        replayed[place, default: 0] += 1
    }

    func limited(_ count: ReceiptCount, at instant: Instant) {}
}
