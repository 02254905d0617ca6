internal import GLibRuntime
internal import RelayCore
internal import RelayStream

/// The decoding and the dedupe of one stream, as `run` has them, for events that come from elsewhere.
@MainLoop
final class VirtualStream {
    /// The name of the stream.
    let name: String
    private var decoder: EventDecoder
    private var seen: SeenEvents
    private var batch: EventBatch

    /// Creates the stream as the rules file has it.
    init(_ stream: RelayConfiguration.Stream) {
        name = stream.connection.name
        // Nobody plans a collision against a try, and the same events give the same ids in every try.
        decoder = EventDecoder(
            format: stream.format, ids: IDSource(stream: stream.connection.name, random: 0, connection: 0))
        seen = SeenEvents(seed: 0)
        batch = EventBatch(stream: stream.connection.name)
    }

    /// A fault to tell.
    struct Report {
        /// What is wrong.
        var fault: DecodeFault
        /// The start of what it is wrong with, or nothing.
        var excerpt = ""
    }

    /// What came of a message.
    struct Outcome {
        /// The number of events in it.
        var events = 0
        /// The faults to tell: those of a message that gave no event all, of others each kind once.
        var reports: [Report] = []
    }

    /// Decodes a message, and hands its events to `take` with whether an event of that id came before.
    ///
    /// `now` stands in for the time of an event that has none.
    ///
    /// - Throws: what `take` throws.
    func decode<Failure: Error>(
        _ message: RawSpan, at now: Instant, take: (Event, _ isRepeated: Bool) throws(Failure) -> Void
    ) throws(Failure) -> Outcome {
        let before = decoder.counts
        let outcome = decoder.decode(message, receivedAt: now, into: &batch)
        defer { batch.removeAll() }
        for index in batch.records.indices {
            let record = batch.records[index]
            try take(batch[index], record.hasServerID && !seen.insert(record.identity))
        }
        guard outcome.events == 0, outcome.reports.isEmpty else {
            return Outcome(
                events: outcome.events, reports: outcome.reports.map { Report(fault: $0.fault, excerpt: $0.excerpt) })
        }
        return Outcome(reports: reports(since: before))
    }

    /// The faults that the decoder only counts, as it told their kinds before.
    private func reports(since before: [DecodeFault: Int]) -> [Report] {
        let counts = decoder.counts
        return DecodeFault.allCases.filter { counts[$0] != before[$0] }.map { Report(fault: $0) }
    }
}

extension DecodeFault {
    /// Whether an item or a message was lost that should have been an event.
    var isLoss: Bool {
        switch self {
        case .emptyMessage, .notUTF8, .notJSON, .tooDeep, .noMemory, .notAnEvent, .serverError, .badKind, .badID,
            .tooManyItems:
            true
        case .filtered, .missingID, .unusableTime, .wrongType, .longText: false
        }
    }
}

extension EventFormat {
    /// Whether a document that is an array is one envelope, not several.
    var takesWholeArrays: Bool {
        let fields = events == .whole ? [id, kind, actor, post, createdAt, text, link] : [events]
        return (fields + only.map(\.pointer)).allSatisfy { $0?.beginsWithIndex ?? true }
    }
}

extension JSONPointer {
    fileprivate var beginsWithIndex: Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let key = text.utf8.dropFirst().prefix { $0 != UInt8(ascii: "/") }
        return !key.isEmpty && key.allSatisfy { digits.contains($0) }
    }
}
