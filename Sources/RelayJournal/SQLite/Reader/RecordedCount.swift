internal import RelayCore

/// Counts the deliveries that recorded effects led to, each of them once, however many events it tells of.
///
/// What it remembers is one bit a digest, briefing and folded delivery.
package struct RecordedCount {
    /// Whose deliveries are counted together.
    package struct Place: Hashable, Sendable {
        /// The name of the rule; nil for briefings, which tell of several.
        package var rule: String?
        /// The name of the sink.
        package var sink: String

        /// Creates a place.
        package init(rule: String?, sink: String) {
            self.rule = rule
            self.sink = sink
        }
    }

    /// The deliveries so far; an open digest or briefing is one, as it will be.
    package private(set) var deliveries: [Place: Int] = [:]
    /// How many of them are digests and briefings that are open.
    package private(set) var open = 0
    /// How many effects, digests and briefings found no room in the outbox, and led to no delivery.
    package private(set) var outboxFull = 0
    /// How many effects were silenced.
    package private(set) var silenced = 0
    /// Digests and briefings of which the history does not know any more what became of them.
    package private(set) var forgotten = 0
    private var gatherings = SerialSet()
    private var told = SerialSet()

    /// Creates a count of nothing.
    package init() {}

    /// Adds the effects of events that a reader read, in the order of receipt.
    package mutating func add(_ events: [RecordedEvent], from reader: JournalReader) throws(JournalReader.Fault) {
        try reader.reading { () throws(DatabaseFault) in
            let folded = try reader.folded(among: events)
            for event in events {
                for effect in event.effects { try add(effect, folded, from: reader) }
            }
        }
    }

    private mutating func add(
        _ effect: RecordedEffect, _ folded: [UInt64: UInt64], from reader: JournalReader
    ) throws(DatabaseFault) {
        let place = Place(rule: effect.rule, sink: effect.sink)
        switch effect.path {
        case .passed: deliveries[place, default: 0] += 1
        case .receipt(let receipt): if receipt == .silenced { silenced += 1 }
        case .outboxFull: outboxFull += 1
        case .delivery(let serial):
            if let successor = folded[serial] {
                try tell(reader.last(of: successor), place)
            } else {
                deliveries[place, default: 0] += 1
            }
        case .group(let serial): try follow(serial, place, from: reader)
        case .briefing(let serial): try follow(serial, Place(rule: nil, sink: effect.sink), from: reader)
        }
    }

    /// Counts a delivery that tells of several effects.
    private mutating func tell(_ serial: UInt64, _ place: Place) {
        if told.insert(serial) { deliveries[place, default: 0] += 1 }
    }

    /// Counts what became of a digest or a briefing, the first time that it is met.
    private mutating func follow(
        _ first: UInt64, _ place: Place, from reader: JournalReader
    ) throws(DatabaseFault) {
        var (serial, place) = (first, place)
        for _ in 0..<JournalReader.mostSteps {
            guard gatherings.insert(serial) else { return }
            guard let closing = try reader.closing(of: serial) else {
                guard try reader.isOpen(serial) else { return forgotten += 1 }
                open += 1
                return deliveries[place, default: 0] += 1
            }
            switch closing.fate {
            case .delivery(let delivery): return tell(try reader.last(of: delivery), place)
            case .briefing(let briefing): (serial, place.rule) = (briefing, nil)
            case .receipt: return
            case .outboxFull: return outboxFull += 1
            }
        }
    }
}

extension JournalReader {
    /// Returns into what each of the deliveries was folded that are the effects of events, if it was.
    fileprivate func folded(among events: [RecordedEvent]) throws(DatabaseFault) -> [UInt64: UInt64] {
        var (first, last) = (UInt64.max, UInt64.min)
        for event in events {
            for case .delivery(let serial) in event.effects.lazy.map(\.path) {
                (first, last) = (min(first, serial), max(last, serial))
            }
        }
        guard first <= last else { return [:] }
        var folded: [UInt64: UInt64] = [:]
        try database.each("SELECT serial, successor FROM delivery WHERE serial >= ? AND serial <= ? AND state = ?") {
            $0.bind(first)
            $0.bind(last)
            $0.bind(OutboxStore.State.folded.rawValue)
        } _: { row in
            folded[row.unsigned(0)] = row.unsigned(1)
        }
        return folded
    }

    /// Returns the delivery into which one was folded in the end.
    fileprivate func last(of first: UInt64) throws(DatabaseFault) -> UInt64 {
        var serial = first
        for _ in 0..<Self.mostSteps {
            let successor = try database.number("SELECT successor FROM delivery WHERE serial = ? AND state = ?") {
                $0.bind(serial)
                $0.bind(OutboxStore.State.folded.rawValue)
            }
            guard let successor else { break }
            serial = UInt64(bitPattern: successor)
        }
        return serial
    }
}

/// A set of serials, of which most are near to others: a bit each.
private struct SerialSet {
    private var words: [UInt64: UInt64] = [:]

    /// Adds a serial; returns whether it is new.
    mutating func insert(_ serial: UInt64) -> Bool {
        let bit: UInt64 = 1 << (serial & 63)
        let word = words[serial >> 6, default: 0]
        guard word & bit == 0 else { return false }
        words[serial >> 6] = word | bit
        return true
    }
}
