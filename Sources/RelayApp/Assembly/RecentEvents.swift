internal import RelayCore
internal import RelayJournal
internal import RelayRules

/// The last events of a stream that nothing was recorded of, for `explain`.
///
/// They are kept a read at a time, and what became of them is found out anew when somebody asks: deciding an event takes
/// no longer for it.
struct RecentEvents {
    /// How many are kept of each stream.
    static let most = 1000
    /// The bytes that they may take, beside those of the last read.
    static let mostBytes = 4 << 20

    /// What of a read is not plain: places of its events.
    struct Exceptions {
        /// Those that the journal has.
        var recorded: Set<Int> = []
        /// Those with effects that were silenced, with a bit for each of these.
        var silenced: [Int: UInt64] = [:]
    }

    private struct Read {
        var batch: EventBatch
        var exceptions: Exceptions
        var receivedAt: Instant

        var count: Int { batch.records.count - exceptions.recorded.count }
        var byteCount: Int {
            batch.storage.capacity + batch.records.capacity * MemoryLayout<EventRecord>.stride
        }
    }

    private var reads: [Read?] = []
    /// Where the oldest read is; what stands before is gone.
    private var start = 0
    private var count = 0
    private var byteCount = 0
    /// Those that earlier rules decided, oldest first.
    private var former: [HistoryEntry] = []

    /// Adds the events of a read, and forgets the oldest reads without which there are enough.
    mutating func add(_ batch: borrowing EventBatch, except exceptions: Exceptions, at wall: Instant) {
        let read = Read(batch: batch.kept(), exceptions: exceptions, receivedAt: wall)
        if read.count == 0 { return }
        reads.append(read)
        count += read.count
        byteCount += read.byteCount
        while let oldest = reads[start], start < reads.count - 1,
            count - oldest.count >= Self.most || byteCount > Self.mostBytes
        {
            forget(oldest)
        }
        if count >= Self.most { former = [] }
    }

    private mutating func forget(_ oldest: Read) {
        reads[start] = nil
        start += 1
        count -= oldest.count
        byteCount -= oldest.byteCount
        guard start > Self.most else { return }
        reads.removeFirst(start)
        start = 0
    }

    /// Returns the events with an id, oldest first; the later ones were decided by these rules.
    func stories(of id: EventID, by rules: RuleSet) -> [HistoryEntry] {
        former.filter { $0.event?.record.identity == id } + stories(by: rules) { $0.identity == id }
    }

    /// Keeps what these rules made of the events, as others come into force.
    mutating func close(by rules: RuleSet) {
        let closed = (former + stories(by: rules) { _ in true }).suffix(Self.most)
        self = RecentEvents()
        former = Array(closed)
    }

    private func stories(by rules: RuleSet, where isWanted: (EventRecord) -> Bool) -> [HistoryEntry] {
        reads[start...].compactMap(\.self).flatMap { read in
            read.batch.records.indices.compactMap { place in
                guard !read.exceptions.recorded.contains(place), isWanted(read.batch.records[place]) else { return nil }
                return story(
                    read.batch[place].compacted(), read.exceptions.silenced[place] ?? 0,
                    receivedAt: read.receivedAt, by: rules)
            }
        }
    }

    private func story(
        _ event: Event, _ silenced: UInt64, receivedAt: Instant, by rules: RuleSet
    ) -> HistoryEntry {
        let effects = rules.explain(event, at: receivedAt).effects
        let stories = effects.enumerated().map { place, effect in
            let isSilenced = place < UInt64.bitWidth && silenced & (1 << UInt64(place)) != 0
            let fate: EffectStory.Fate =
                switch effect.action {
                case .suppress(let receipt): .receipt(receipt)
                case .deliver: isSilenced ? .receipt(.silenced) : .passed
                }
            return EffectStory(
                rule: rules.rules.indices.contains(effect.rule) ? rules.rules[effect.rule].name : "",
                sink: rules.sinkNames.indices.contains(effect.sink) ? rules.sinkNames[effect.sink] : "-", fate: fate)
        }
        return HistoryEntry(number: 0, receivedAt: receivedAt, event: event, effects: stories)
    }
}

extension EventBatch {
    /// Reads with so many events fill their storage, and are kept as they are.
    private static let large = 64

    /// The batch for longer than its read: a small one would keep all the room that there was for a large one.
    fileprivate borrowing func kept() -> EventBatch {
        if records.count >= Self.large { return copy self }
        var small = EventBatch(stream: stream)
        small.storage = storage.withUnsafeBufferPointer { Array($0) }
        small.records = records.withUnsafeBufferPointer { Array($0) }
        return small
    }
}
