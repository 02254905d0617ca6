internal import CSimdjson
package import RelayCore

/// Decodes the messages of a stream: the bytes of one message in, events appended to a batch out.
///
/// A message is one JSON document, or one a line. It is walked to its end before any event of it is used, so a line that
/// is not JSON costs the whole message; an item or field that cannot be used is the loss of that item or field alone,
/// and is counted. Of a key that stands twice the last counts.
///
/// Kinds are kept as they came, in their case, unless the format renames them. Control characters in texts are kept
/// too: they are removed where a text is shown.
package struct EventDecoder: ~Copyable, Sendable {
    /// The most items of a message that are looked at.
    package static let mostItems = 10_000
    /// The most bytes of a field that are kept; a longer one is cut between characters.
    ///
    /// An id that is cut still gives the identity of all its bytes.
    package static let longestText = 65_536

    /// Where given ids come from.
    package var ids: IDSource
    /// What no report may show, though the server may send it back.
    package var secrets: [Secret] = []
    // Not the format itself: reading one field of it would copy all of it for every event.
    /// Whether the format has a place for ids.
    let mapsID: Bool
    /// Whether the format has a place for times.
    let mapsTime: Bool
    private let parser: EventParser
    var times = TimestampReader()
    let kinds: [(theirs: [UInt8], ours: [UInt8])]
    private var counters = [Int](repeating: 0, count: DecodeFault.allCases.count)

    /// Creates a decoder of messages in `format`.
    package init(format: EventFormat, ids: IDSource) {
        mapsID = format.mapsID
        mapsTime = format.createdAt != nil
        self.ids = ids
        parser = EventParser(format: format, limit: Self.mostItems)
        kinds = format.kinds.sorted { $0.key < $1.key }.map { (Array($0.key.utf8), Array($0.value.utf8)) }
    }

    /// How often each kind of fault came, since the decoder was made.
    package var counts: [DecodeFault: Int] {
        DecodeFault.allCases.reduce(into: [:]) { counts, fault in
            if counters[fault.rawValue] > 0 { counts[fault] = counters[fault.rawValue] }
        }
    }

    /// Appends the events of `message`, a whole text or binary message, to `batch`, in their order.
    ///
    /// One byte-order mark at the start is removed. The message needs no readable bytes behind it. `receivedAt` stands
    /// in for a time that is missing or cannot be read.
    package mutating func decode(
        _ message: RawSpan, receivedAt: Instant, into batch: inout EventBatch
    ) -> DecodeOutcome {
        var outcome = DecodeOutcome()
        let start = batch.storage.count
        // Offsets have 32 bits.
        guard start + message.byteCount < Int(UInt32.max) else {
            message.withUnsafeBytes { count(.noMemory, $0, &outcome) }
            return outcome
        }
        message.withUnsafeBytes { batch.storage.append(contentsOf: $0) }
        decode([start..<(start + message.byteCount)], receivedAt, &batch, &outcome)
        return outcome
    }

    /// Appends the events of the messages that lie at `places` in `bytes`, as `decode(_:receivedAt:into:)` does.
    ///
    /// An empty batch shares `bytes` until it is emptied, so nothing is copied but the texts with escapes. Messages
    /// with nothing but spaces between them are read together.
    package mutating func decode(
        _ bytes: [UInt8], at places: [Range<Int>], receivedAt: Instant, into batch: inout EventBatch
    ) -> DecodeOutcome {
        var outcome = DecodeOutcome()
        if batch.storage.isEmpty, bytes.count < Int(UInt32.max) {
            batch.storage = bytes
            decode(places, receivedAt, &batch, &outcome)
        } else {
            for place in places {
                let one = decode(bytes.span.bytes.extracting(place), receivedAt: receivedAt, into: &batch)
                outcome.events += one.events
                outcome.reports += one.reports
            }
        }
        return outcome
    }

    /// Appends the events of messages that lie in the batch's storage.
    private mutating func decode(
        _ places: [Range<Int>], _ receivedAt: Instant, _ batch: inout EventBatch, _ outcome: inout DecodeOutcome
    ) {
        let first = batch.records.count
        var rest = places[...]
        var isStopped = false
        while let place = rest.first {
            if isStopped {
                // What is wrong with one message is mostly wrong with the next ones too.
                decodeOne(place, receivedAt, &batch, &outcome)
                rest = rest.dropFirst()
            } else {
                let taken: Int
                let result: relay_json_result
                (taken, isStopped, result) = parser.parse(batch.storage, at: rest)
                take(result, place.lowerBound, receivedAt, &batch, &outcome)
                rest = rest.dropFirst(taken)
            }
        }
        outcome.events = batch.records.count - first
    }

    /// Appends the events of one message, or counts what is wrong with it.
    private mutating func decodeOne(
        _ place: Range<Int>, _ receivedAt: Instant, _ batch: inout EventBatch, _ outcome: inout DecodeOutcome
    ) {
        let place = Self.withoutMark(place, in: batch.storage)
        let (status, result) = batch.storage.withUnsafeBytes {
            parser.parse(UnsafeRawBufferPointer(rebasing: $0[place]))
        }
        if let fault = Self.fault(of: status) { return count(fault, place, in: batch.storage, &outcome) }
        take(result, place.lowerBound, receivedAt, &batch, &outcome)
        if result.over_limit > 0 {
            count(.tooManyItems, place, in: batch.storage, &outcome)
            counters[DecodeFault.tooManyItems.rawValue] &+= result.over_limit - 1
        }
    }

    /// Appends the events that items are, whose places count from `base`.
    private mutating func take(
        _ result: relay_json_result, _ base: Int, _ receivedAt: Instant, _ batch: inout EventBatch,
        _ outcome: inout DecodeOutcome
    ) {
        counters[DecodeFault.filtered.rawValue] &+= result.filtered
        guard result.count > 0 else { return }
        let items = ParsedItems(
            items: UnsafeBufferPointer(start: result.items, count: result.count), base: UInt32(base))
        // The batch's arrays by themselves: of a part of a structure each access would be checked, or copy it.
        var storage = batch.storage
        var records = batch.records
        (batch.storage, batch.records) = ([], [])
        decode(items, receivedAt, &records, &storage, &outcome)
        (batch.storage, batch.records) = (storage, records)
    }

    /// Counts a fault of the bytes at `place` in `storage`.
    mutating func count(
        _ fault: DecodeFault, _ place: Range<Int>, in storage: [UInt8], _ outcome: inout DecodeOutcome
    ) {
        storage.withUnsafeBytes { count(fault, UnsafeRawBufferPointer(rebasing: $0[place]), &outcome) }
    }

    /// Counts a fault of `bytes` and, if it is to be told, adds a report.
    mutating func count(_ fault: DecodeFault, _ bytes: UnsafeRawBufferPointer, _ outcome: inout DecodeOutcome) {
        counters[fault.rawValue] &+= 1
        let number = counters[fault.rawValue]
        // What the server complains of may be something new; told for ever, it could fill the log.
        guard fault == .serverError ? ThinnedCount.isTold(number) : number == 1 else { return }
        outcome.reports.append(DecodeOutcome.Report(fault: fault, excerpt: Excerpt.of(bytes, hiding: secrets)))
    }

    private static func withoutMark(_ place: Range<Int>, in storage: [UInt8]) -> Range<Int> {
        storage[place].starts(with: [0xEF, 0xBB, 0xBF]) ? (place.lowerBound + 3)..<place.upperBound : place
    }

    /// Returns what a status of the parser means, or nil if all is well.
    static func fault(of status: relay_json_status) -> DecodeFault? {
        switch status {
        case RELAY_JSON_OK: nil
        case RELAY_JSON_EMPTY: .emptyMessage
        case RELAY_JSON_NOT_UTF8: .notUTF8
        case RELAY_JSON_TOO_DEEP: .tooDeep
        case RELAY_JSON_NO_MEMORY: .noMemory
        default: .notJSON
        }
    }
}
