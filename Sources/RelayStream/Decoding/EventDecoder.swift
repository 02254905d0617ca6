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
        message.withUnsafeBytes { decode($0, receivedAt: receivedAt, into: &batch) }
    }

    /// Appends the events of the messages that lie at `places` in `bytes`, as `decode(_:receivedAt:into:)` does.
    package mutating func decode(
        _ bytes: RawSpan, at places: [Range<Int>], receivedAt: Instant, into batch: inout EventBatch
    ) -> DecodeOutcome {
        var outcome = DecodeOutcome()
        for place in places {
            let one = decode(bytes.extracting(place), receivedAt: receivedAt, into: &batch)
            outcome.events += one.events
            if !one.reports.isEmpty { outcome.reports += one.reports }
        }
        return outcome
    }

    private mutating func decode(
        _ message: UnsafeRawBufferPointer, receivedAt: Instant, into batch: inout EventBatch
    ) -> DecodeOutcome {
        let text = Self.withoutMark(message)
        var outcome = DecodeOutcome()
        let first = batch.records.count
        let (status, result) = parser.parse(text)
        if let fault = Self.fault(of: status) {
            count(fault, text, &outcome)
            return outcome
        }
        if result.count > 0 {
            decode(
                UnsafeBufferPointer(start: result.items, count: result.count), of: text, receivedAt, &batch, &outcome)
        }
        counters[DecodeFault.filtered.rawValue] &+= result.filtered
        if result.over_limit > 0 {
            count(.tooManyItems, text, &outcome)
            counters[DecodeFault.tooManyItems.rawValue] &+= result.over_limit - 1
        }
        outcome.events = batch.records.count - first
        return outcome
    }

    /// Counts a fault of `bytes` and, if it is to be told, adds a report.
    mutating func count(_ fault: DecodeFault, _ bytes: UnsafeRawBufferPointer, _ outcome: inout DecodeOutcome) {
        counters[fault.rawValue] &+= 1
        let number = counters[fault.rawValue]
        // What the server complains of may be something new; told for ever, it could fill the log.
        guard fault == .serverError ? ThinnedCount.isTold(number) : number == 1 else { return }
        outcome.reports.append(DecodeOutcome.Report(fault: fault, excerpt: Excerpt.of(bytes, hiding: secrets)))
    }

    private static func withoutMark(_ message: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard message.count >= 3, message[0] == 0xEF, message[1] == 0xBB, message[2] == 0xBF else { return message }
        return UnsafeRawBufferPointer(rebasing: message[3...])
    }

    private static func fault(of status: relay_json_status) -> DecodeFault? {
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
