internal import RelayCore
internal import RelayJournal
internal import RelayRules

/// The last events of a stream that nothing was recorded of, for `explain`.
///
/// What became of them is found out anew when somebody asks: that takes no time from deciding.
struct RecentEvents {
    /// How many are kept of each stream.
    static let most = 1000

    private struct Entry {
        var event: Event
        var receivedAt: Instant
        /// The places of its effects that were silenced.
        var silenced: UInt64
    }

    private var entries: [Entry] = []
    /// Where the oldest is, once there are as many as are kept.
    private var start = 0
    /// Those that earlier rules decided, oldest first.
    private var former: [HistoryEntry] = []

    /// Adds an event, and forgets the oldest if there are too many.
    ///
    /// `isOneOfMany` says that it shares its storage with so many that copying its text takes more than it saves.
    mutating func add(_ event: borrowing Event, at wall: Instant, silenced: UInt64, isOneOfMany: Bool) {
        let kept = isOneOfMany ? copy event : event.compacted()
        let entry = Entry(event: kept, receivedAt: wall, silenced: silenced)
        if entries.count < Self.most { return entries.append(entry) }
        entries[start] = entry
        start = (start + 1) % Self.most
        former = []
    }

    /// Returns the events with an id, oldest first; the later ones were decided by these rules.
    func stories(of id: EventID, by rules: RuleSet) -> [HistoryEntry] {
        former.filter { $0.event?.record.identity == id }
            + ordered.filter { $0.event.record.identity == id }.map { story($0, by: rules) }
    }

    /// Keeps what these rules made of the events, as others come into force.
    mutating func close(by rules: RuleSet) {
        former = (former + ordered.map { story($0, by: rules) }).suffix(Self.most)
        entries = []
        start = 0
    }

    private var ordered: [Entry] { Array(entries[start...] + entries[..<start]) }

    private func story(_ entry: Entry, by rules: RuleSet) -> HistoryEntry {
        let effects = rules.explain(entry.event, at: entry.receivedAt).effects
        let stories = effects.enumerated().map { place, effect in
            let isSilenced = place < UInt64.bitWidth && entry.silenced & (1 << UInt64(place)) != 0
            let fate: EffectStory.Fate =
                switch effect.action {
                case .suppress(let receipt): .receipt(receipt)
                case .deliver: isSilenced ? .receipt(.silenced) : .passed
                }
            return EffectStory(
                rule: rules.rules.indices.contains(effect.rule) ? rules.rules[effect.rule].name : "",
                sink: rules.sinkNames.indices.contains(effect.sink) ? rules.sinkNames[effect.sink] : "-", fate: fate)
        }
        return HistoryEntry(number: 0, receivedAt: entry.receivedAt, event: entry.event.compacted(), effects: stories)
    }
}
