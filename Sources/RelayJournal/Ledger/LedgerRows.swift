package import RelayCore

// What a disk keeps of a ledger, a row of a table each: plain values of numbers, texts, events and policies. Whoever
// writes them writes a zone by its name, which is empty for the system's; durations and instants are whole milliseconds.

/// What was charged to one key of a limit.
package struct LimitRow: Sendable, Equatable, Identifiable {
    /// The key.
    package var key: EffectKey
    /// The rule and the sink.
    package var scope: Scope
    /// Whether it is the key that the rule shares for the sink when the table is full.
    package var isShared: Bool
    /// When a notice was charged, oldest first; at most as many as the limit allows in a stretch.
    package var charges: [Instant]
    /// Whose notice each charge was, if the key is shared; else none.
    package var owners: [EffectKey]
    /// How many `limited` receipts no notice has told yet.
    package var untold: Int
    /// The length of a stretch when it was last charged.
    package var per: Duration

    package var id: EffectKey { key }

    /// Creates a row.
    package init(
        key: EffectKey, scope: Scope, isShared: Bool, charges: [Instant], owners: [EffectKey] = [], untold: Int,
        per: Duration
    ) {
        self.key = key
        self.scope = scope
        self.isShared = isShared
        self.charges = charges
        self.owners = owners
        self.untold = untold
        self.per = per
    }
}

/// When one key of a `repeat` passed.
package struct RepeatRow: Sendable, Equatable, Identifiable {
    /// The key.
    package var key: EffectKey
    /// When it passed.
    package var at: Instant
    /// How long it holds back the next one.
    package var within: Duration
    /// Its place among all that passed, oldest first.
    package var order: UInt64

    package var id: EffectKey { key }

    /// Creates a row.
    package init(key: EffectKey, at: Instant, within: Duration, order: UInt64) {
        self.key = key
        self.at = at
        self.within = within
        self.order = order
    }
}

/// One open group, without the events that it lists.
package struct GroupRow: Sendable, Equatable, Identifiable {
    /// Its number in the order of opening, never used again, not by a briefing or a delivery either.
    package var serial: UInt64
    /// What makes an event belong to it; no two open groups have the same.
    package var key: EffectKey
    /// Its rule and its sink.
    package var scope: Scope
    /// Why it was opened.
    package var sort: GroupSort
    /// Whether it is the group that the rule shares for the sink.
    package var isShared: Bool
    /// When it closes.
    package var deadline: Deadline
    /// The stretch of the limit for a slot of which it waits; nil as long as its own window runs.
    package var waits: Duration?
    /// The limit key of its first event; nil if it has none.
    package var limitKey: EffectKey?
    /// What it gathered.
    package var tally: GatheringTally

    package var id: UInt64 { serial }

    /// Creates a row.
    package init(
        serial: UInt64, key: EffectKey, scope: Scope, sort: GroupSort, isShared: Bool, deadline: Deadline,
        waits: Duration?, limitKey: EffectKey?, tally: GatheringTally
    ) {
        self.serial = serial
        self.key = key
        self.scope = scope
        self.sort = sort
        self.isShared = isShared
        self.deadline = deadline
        self.waits = waits
        self.limitKey = limitKey
        self.tally = tally
    }
}

/// One open briefing, without the events that it lists.
package struct BriefingRow: Sendable, Equatable, Identifiable {
    /// Its number in the order of opening, never used again, not by a group or a delivery either.
    package var serial: UInt64
    /// The name of the sink.
    package var sink: String
    /// The name of the time; no two open briefings have the same sink and time.
    package var time: String
    /// What it gathered.
    package var tally: GatheringTally

    package var id: UInt64 { serial }

    /// Creates a row.
    package init(serial: UInt64, sink: String, time: String, tally: GatheringTally) {
        self.serial = serial
        self.sink = sink
        self.time = time
        self.tally = tally
    }
}

/// An event that an open group or briefing lists; it goes with it.
package struct ItemRow: Sendable, Equatable {
    /// The serial of the group or briefing.
    package var serial: UInt64
    /// Its place in the list, from 0; at most `Gathering.mostItems` are listed.
    package var place: Int
    /// The event, cut to what is kept of it.
    package var event: Event
    /// The name of the rule that gathered it.
    package var rule: String

    /// Creates a row.
    package init(serial: UInt64, place: Int, event: Event, rule: String) {
        self.serial = serial
        self.place = place
        self.event = event
        self.rule = rule
    }
}

/// The silences, and the last id that was given to one.
package struct SilenceRows: Sendable, Equatable {
    /// The silences, oldest first, at most `Silence.most`; some may be over.
    package var silences: [Silence]
    /// The last id that was given.
    package var lastID: UInt64

    /// Creates rows.
    package init(silences: [Silence] = [], lastID: UInt64 = 0) {
        self.silences = silences
        self.lastID = lastID
    }
}

/// The counters of one sink, of the effects that the ledger counts.
package struct SinkRow: Sendable, Equatable, Identifiable {
    /// The name of the sink.
    package var sink: String
    /// Its counters.
    package var counters: SinkCounters

    package var id: String { sink }

    /// Creates a row.
    package init(sink: String, counters: SinkCounters) {
        self.sink = sink
        self.counters = counters
    }
}

/// The numbers of which a ledger has one each.
package struct LedgerTotals: Sendable, Equatable {
    /// The last serial that a group, a briefing or a delivery got.
    package var lastSerial: UInt64
    /// What the bounds turned away.
    package var overflows: OverflowCounters

    /// Creates totals.
    package init(lastSerial: UInt64 = 0, overflows: OverflowCounters = OverflowCounters()) {
        self.lastSerial = lastSerial
        self.overflows = overflows
    }
}

/// The plan in force without what renders notices, so that the next process knows by which policies things were opened.
package struct PlanRow: Sendable, Equatable {
    /// The policies, by the places of their rules in the file.
    package var policies: [EffectPolicy]
    /// The names of the sinks, by their places in the file.
    package var sinkNames: [String]
    /// The times by name.
    package var times: [String: QuietTime]

    /// Creates a row.
    package init(policies: [EffectPolicy], sinkNames: [String], times: [String: QuietTime]) {
        self.policies = policies
        self.sinkNames = sinkNames
        self.times = times
    }
}
