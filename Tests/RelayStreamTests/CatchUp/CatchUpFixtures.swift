import RelayCore
import WebSocketCodec

@testable import RelayStream

/// Events by numbers, which are their times in seconds too.
enum CatchUpFixtures {
    static let start: Int64 = 1_893_456_000_000

    static func cursor(_ number: Int) -> StreamCursor {
        StreamCursor(id: UntrustedText("e\(number)"), createdAt: time(number))
    }

    static func time(_ number: Int) -> Instant {
        Instant(milliseconds: start + Int64(number) * 1000)
    }

    /// A batch of the events with these numbers, in this order.
    static func batch(_ numbers: some Sequence<Int>) -> EventBatch {
        var batch = EventBatch(stream: "chirp")
        for number in numbers {
            let id = Array("e\(number)".utf8)
            let place = TextRange(offset: UInt32(batch.storage.count), count: UInt32(id.count))
            batch.storage += id
            batch.records.append(
                EventRecord(
                    identity: EventID(text: id.span.bytes), createdAt: time(number), id: place,
                    kind: TextRange(offset: 0, count: 0)))
        }
        return batch
    }

    static func page(_ numbers: some Sequence<Int>, next: String? = nil, isCut: Bool = false) -> CatchUpPage {
        let batch = batch(numbers)
        return CatchUpPage(batch: batch, count: batch.records.count, isCut: isCut, next: next.map { Secret($0) })
    }

    static func numbers(_ batches: [EventBatch]) -> [Int] {
        batches.flatMap { batch in batch.records.indices.map { number(batch[$0].text(of: batch.records[$0].id)) } }
    }

    static func number(_ id: UntrustedText?) -> Int {
        Int(id?.string.dropFirst() ?? "") ?? -1
    }

    static func url(_ text: String, stream: String = "ws://127.0.0.1:9/ws") throws -> CatchUpURL {
        try CatchUpURL(text, stream: try WebSocketURL(stream), insecure: false)
    }

    static func configuration(
        _ order: CatchUpConfiguration.Order, url: String = "/e?after={cursor}",
        next: CatchUpConfiguration.Next? = JSONPointer("/next").map { .pointer($0) }
    ) throws -> CatchUpConfiguration {
        CatchUpConfiguration(url: try self.url(url), events: JSONPointer(key: "events"), order: order, next: next)
    }
}
