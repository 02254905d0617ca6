import RelayCore
import RelayJournal

/// An outbox of a test: keeps every delivery, with when it was stored, and lets it pend until it is settled.
struct RecordingStore: DeliveryStore {
    /// A delivery that was offered.
    struct Record {
        var delivery: Delivery
        var serial: UInt64
        var at: Instant
        /// Whether there was room for it.
        var isStored: Bool
    }

    /// How many deliveries may pend for a sink.
    var room = Int.max
    /// All that was offered, in order.
    private(set) var records: [Record] = []
    /// The counters by sink.
    private(set) var counters: [String: SinkCounters] = [:]
    private var pending: [String: [Delivery]] = [:]
    private var keys: Set<String> = []
    private var lastSerial: UInt64 = 0

    func holds(_ key: String, sink: String) -> Bool { keys.contains(key) }

    mutating func store(_ delivery: Delivery, serial: UInt64, at now: Instant) throws(JournalFailure) -> Bool {
        if keys.contains(delivery.key) || serial <= lastSerial { throw .conflictingKey(delivery.key) }
        lastSerial = serial
        let isStored = pending[delivery.sink, default: []].count < room
        records.append(Record(delivery: delivery, serial: serial, at: now, isStored: isStored))
        counters[delivery.sink, default: SinkCounters()].effects += delivery.effects
        if isStored {
            counters[delivery.sink, default: SinkCounters()].pending += delivery.effects
            pending[delivery.sink, default: []].append(delivery)
            keys.insert(delivery.key)
        } else {
            counters[delivery.sink, default: SinkCounters()].dead += delivery.effects
        }
        return isStored
    }

    /// Settles all that pends.
    mutating func settleAll() {
        for delivery in pending.values.joined() {
            counters[delivery.sink]?.pending -= delivery.effects
            counters[delivery.sink]?.delivered += delivery.effects
        }
        pending.removeAll()
        keys.removeAll()
    }
}
