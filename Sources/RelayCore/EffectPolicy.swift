/// A field that `by` names: what makes two events one key or one group.
package enum KeyField: String, Sendable, CaseIterable {
    case kind, actor, post, stream
}

/// The `limit` of a rule: no stretch of `per` ever holds more than `max` notices of one key.
package struct LimitPolicy: Sendable, Equatable {
    /// What becomes of an effect that finds no free slot.
    package enum Excess: String, Sendable, CaseIterable {
        case drop, digest
    }

    /// How many notices a stretch may hold, at least 1.
    package var max: Int
    /// The length of a stretch; stretches are half open.
    package var per: Duration
    /// What makes a key; none: the rule as one.
    package var by: [KeyField]
    /// What becomes of the rest.
    package var excess: Excess

    /// Creates a limit.
    package init(max: Int, per: Duration, by: [KeyField] = [], excess: Excess = .digest) {
        self.max = max
        self.per = per
        self.by = by
        self.excess = excess
    }
}

/// The `digest` of a rule: one notice for all events of a group.
package struct DigestPolicy: Sendable, Equatable {
    /// When a group closes.
    package enum Timing: Sendable, Equatable {
        /// So long after its first event.
        case window(Duration)
        /// At the next of these times.
        case at(DailyTimes)
    }

    /// What makes a group; none: the rule as one.
    package var by: [KeyField]
    /// When a group closes.
    package var timing: Timing
    /// The number of events that closes it early.
    package var max: Int?
    /// Whether the first event goes at once (`"first": "now"`).
    package var sendsFirst: Bool

    /// Creates a digest.
    package init(by: [KeyField] = [], timing: Timing, max: Int? = nil, sendsFirst: Bool = false) {
        self.by = by
        self.timing = timing
        self.max = max
        self.sendsFirst = sendsFirst
    }
}

/// The `repeat` of a rule: the same key passes once within a time.
package struct RepeatPolicy: Sendable, Equatable {
    /// What makes a key.
    package var by: [KeyField]
    /// How long a key that passed holds back the next one.
    package var within: Duration

    /// Creates a repeat.
    package init(by: [KeyField], within: Duration) {
        self.by = by
        self.within = within
    }
}

/// What a rule asks of the journal for each of its effects, beside storing a delivery.
package struct EffectPolicy: Sendable, Equatable {
    /// The name of the rule.
    package var rule: String
    /// Its `repeat`.
    package var `repeat`: RepeatPolicy?
    /// Its `digest`.
    package var digest: DigestPolicy?
    /// The name of the time of its `hold`.
    package var hold: String?
    /// Its `limit`.
    package var limit: LimitPolicy?
    /// The places of its sinks in the file: a reload closes what it gathered for any other.
    package var sinks: [Int]
    /// Whether its templates ask for fields as they came, so that what is gathered keeps the whole item.
    package var keepsRaw: Bool

    /// Creates a policy.
    package init(
        rule: String, repeat: RepeatPolicy? = nil, digest: DigestPolicy? = nil, hold: String? = nil,
        limit: LimitPolicy? = nil, sinks: [Int] = [], keepsRaw: Bool = false
    ) {
        self.rule = rule
        self.repeat = `repeat`
        self.digest = digest
        self.hold = hold
        self.limit = limit
        self.sinks = sinks
        self.keepsRaw = keepsRaw
    }

    /// Whether the effects of the rule are the journal's in any sink.
    package var isStateful: Bool { `repeat` != nil || digest != nil || hold != nil || limit != nil }
}

/// What the journal needs to know of a rules file: the policies, the sinks, the times, and how a notice reads.
package struct EffectPlan: Sendable {
    /// The policies, by the places of their rules in the file.
    package var policies: [EffectPolicy]
    /// The names of the sinks, by their places in the file.
    package var sinkNames: [String]
    /// The times by name.
    package var times: [String: QuietTime]
    /// Renders what a person reads.
    package var renderer: any NoticeRenderer

    /// Creates a plan.
    package init(
        policies: [EffectPolicy], sinkNames: [String], times: [String: QuietTime], renderer: any NoticeRenderer
    ) {
        self.policies = policies
        self.sinkNames = sinkNames
        self.times = times
        self.renderer = renderer
    }
}

/// Turns events into what a person reads.
///
/// A rule that is no longer there, `Effect.nobody`, gives the usual wording: after a restart by other rules its digest may
/// still have to be told.
package protocol NoticeRenderer: Sendable {
    /// Returns the notice of one event for the rule at that place in the file; `suppressed` is told in it.
    func notice(rule: Int, for event: Event, suppressed: Int) -> Notice
    /// Returns the notice of a digest of two events or more.
    func notice(rule: Int, for digest: Gathering, suppressed: Int) -> Notice
    /// Returns the briefing of what `time` held.
    func briefing(time: String, of gathering: Gathering) -> Notice
}

/// How many events one notice tells, and when they happened.
package struct GatheringTally: Sendable, Equatable {
    /// How many there are.
    package var count = 0
    /// When the first one happened.
    package var first = Instant.distantFuture
    /// When the last one happened.
    package var last = Instant(milliseconds: .min)

    /// Creates the tally of nothing.
    package init() {}

    /// Counts an event.
    package mutating func add(_ event: Event) {
        count += 1
        first = min(first, event.record.createdAt)
        last = max(last, event.record.createdAt)
    }

    /// Counts what another one counted.
    package mutating func add(_ other: GatheringTally) {
        count += other.count
        first = min(first, other.first)
        last = max(last, other.last)
    }
}

/// The events that one notice tells, in the order they came.
package struct Gathering: Sendable {
    /// An event with the name of the rule that gathered it.
    package struct Item: Sendable {
        /// The event, cut to what a digest keeps of it.
        package var event: Event
        /// The name of the rule.
        package var rule: String

        /// Creates an item.
        package init(_ event: Event, rule: String) {
            self.event = event
            self.rule = rule
        }
    }

    /// The first events, at most 10 000.
    package private(set) var items: [Item] = []
    /// How many there are in all, and when they happened.
    package private(set) var tally = GatheringTally()

    /// An estimate of the memory that the listed events take.
    package private(set) var byteCount = 0

    /// The most events that are listed.
    package static let mostItems = 10_000
    /// The most text that is kept of an event, in bytes.
    package static let mostBytesOfEvent = 4096

    /// How many there are in all.
    package var count: Int { tally.count }
    /// When the first one happened.
    package var first: Instant { tally.first }
    /// When the last one happened.
    package var last: Instant { tally.last }

    /// Creates an empty gathering.
    package init() {}

    /// Creates a gathering as it was stored: the events that it listed, at most 10 000, and its tally.
    package init(listing items: [Item], tally: GatheringTally) {
        self.tally = tally
        for item in items.prefix(Self.mostItems) { list(item) }
    }

    /// Adds an event, which is counted only if there are as many as can be listed.
    package mutating func add(_ item: Item) {
        countOnly(item.event)
        if items.count < Self.mostItems { list(item) }
    }

    /// Adds an event that is not listed.
    package mutating func countOnly(_ event: Event) {
        tally.add(event)
    }

    /// Adds what another one gathered.
    package mutating func add(_ other: Gathering) {
        tally.add(other.tally)
        for item in other.items.prefix(Self.mostItems - items.count) { list(item) }
    }

    private mutating func list(_ item: Item) {
        items.append(item)
        byteCount += item.event.storage.count + MemoryLayout<Item>.size
    }
}
