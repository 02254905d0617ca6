internal import RelayCore

/// Reads the pages of a catch-up: checks that a page is JSON as a whole, and decodes its events by the stream's format.
struct PageReader: ~Copyable {
    /// A page with what is to be told of it.
    struct Result {
        var page: CatchUpPage
        var reports: [DecodeOutcome.Report] = []
    }

    private let configuration: CatchUpConfiguration
    private let stream: String
    /// Looks at the page as a whole; what it finds is of no interest.
    private let parser: EventParser
    private var decoder: EventDecoder

    /// Creates a reader of pages whose elements are items of `format`.
    ///
    /// `random` is a number that no other source of given ids has.
    init(_ configuration: CatchUpConfiguration, format: EventFormat, stream: String, random: UInt64) {
        self.configuration = configuration
        self.stream = stream
        parser = EventParser(format: EventFormat(events: configuration.events, kind: .whole), limit: 1)
        var items = format
        items.events = .whole
        // What is around the items of a message is not around those of a page.
        if format.events != .whole { items.only = [] }
        decoder = EventDecoder(format: items, ids: IDSource(stream: stream, random: random, connection: 0))
    }

    /// Reads a page of at most `room` elements and events; what is beyond is left out.
    ///
    /// - Throws: `PageFault` if the page is not what it must be.
    mutating func read(
        _ body: [UInt8], links: [String], room: Int, receivedAt: Instant, next: NextAddress, hiding secrets: [Secret]
    ) throws(PageFault) -> Result {
        let start = body.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let text = body.span.bytes.extracting(start..<body.count)
        try check(text)
        let elements = try elements(of: text, atMost: room)
        decoder.secrets = secrets
        var result = Result(page: CatchUpPage(batch: EventBatch(stream: stream), count: elements.places.count))
        result.page.isCut = elements.isCut
        for (index, place) in elements.places.enumerated() {
            result.reports +=
                decoder.decode(text.extracting(place), receivedAt: receivedAt, into: &result.page.batch)
                .reports
            // An element may be a list of events.
            guard result.page.batch.records.count >= room else { continue }
            let isMore = result.page.batch.records.count > room || index + 1 < elements.places.count
            result.page.isCut = result.page.isCut || isMore
            result.page.batch.records.removeLast(result.page.batch.records.count - room)
            break
        }
        result.page.count = max(result.page.count, result.page.batch.records.count)
        result.page.next = try next.find(in: text, links: links)
        return result
    }

    /// Checks that `text` is one JSON document.
    private func check(_ text: RawSpan) throws(PageFault) {
        switch parser.fault(in: text) {
        case nil: break
        case .emptyMessage: throw PageFault("the page is empty")
        case .notUTF8: throw PageFault("the page is not UTF-8")
        case .tooDeep: throw PageFault("the page is nested over 64 levels deep")
        case .noMemory: throw PageFault("there is no memory for the page")
        default: throw PageFault("the page is not JSON")
        }
        // The decoder takes lines of documents too, of which a page would be only the first.
        let end = JSONLookup.find(.whole, in: text)?.end ?? 0
        for index in end..<text.byteCount where text.unsafeLoad(fromByteOffset: index, as: UInt8.self) > 0x20 {
            throw PageFault("the page is more than one JSON document")
        }
    }

    private func elements(of text: RawSpan, atMost room: Int) throws(PageFault) -> (places: [Range<Int>], isCut: Bool) {
        let value = JSONLookup.find(configuration.events, in: text)
        // Some servers write a list without elements as null.
        if value?.kind == .null { return ([], false) }
        guard let elements = value?.elements(in: text, atMost: room) else {
            throw PageFault("the page has no array at \"\(configuration.events.text)\", where \"events\" points to")
        }
        return elements
    }
}

extension JSONLookup {
    /// Where the value ends, with the quote of a string.
    fileprivate var end: Int { kind == .string ? range.upperBound + 1 : range.upperBound }
}
