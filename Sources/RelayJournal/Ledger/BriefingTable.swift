internal import RelayCore

/// A briefing of what a time holds for a sink.
struct OpenBriefing: Sendable {
    /// The name of the sink.
    let sink: String
    /// The name of the time.
    let time: String
    /// Its number in the order of opening, never used again.
    let serial: UInt64
    /// What was held.
    var gathering = Gathering()
}

/// The open briefings, one for each sink and time.
struct BriefingTable: Sendable {
    private struct Key: Hashable {
        let sink: String
        let time: String
    }

    private var briefings: [Key: OpenBriefing] = [:]
    /// The memory that the events of all briefings take.
    private(set) var byteCount = 0

    /// Whether nothing is held.
    var isEmpty: Bool { briefings.isEmpty }

    /// The open briefings in the order of opening.
    var all: [OpenBriefing] { briefings.values.sorted { $0.serial < $1.serial } }

    /// The names of the times that hold something.
    var times: Set<String> { Set(briefings.keys.map(\.time)) }

    /// Whether a briefing is open.
    func isOpen(sink: String, time: String) -> Bool { briefings[Key(sink: sink, time: time)] != nil }

    /// Opens an empty briefing.
    mutating func open(sink: String, time: String, serial: UInt64) {
        briefings[Key(sink: sink, time: time)] = OpenBriefing(sink: sink, time: time, serial: serial)
    }

    /// Changes what an open briefing gathered.
    mutating func modify(sink: String, time: String, _ change: (inout Gathering) -> Void) {
        let key = Key(sink: sink, time: time)
        guard let before = briefings[key]?.gathering.byteCount else { return }
        change(&briefings[key, default: OpenBriefing(sink: sink, time: time, serial: 0)].gathering)
        byteCount += (briefings[key]?.gathering.byteCount ?? 0) - before
    }

    /// Closes a briefing.
    mutating func remove(_ briefing: OpenBriefing) {
        guard let removed = briefings.removeValue(forKey: Key(sink: briefing.sink, time: briefing.time)) else { return }
        byteCount -= removed.gathering.byteCount
    }
}
