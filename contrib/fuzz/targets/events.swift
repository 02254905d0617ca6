import RelayCore
import RelaySinks
import RelayStream

/// Decodes a message twice into one batch, in the format that the first byte chooses.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard count >= 1, let start else { return -1 }
    let format = formats[Int(start[0]) % formats.count]
    // The message ends where readable memory does.
    let message = UnsafeRawBufferPointer(start: start + 1, count: count - 1)
    var decoder = EventDecoder(format: format, ids: IDSource(stream: "fuzz", random: 1, connection: 1))
    var batch = EventBatch(stream: "fuzz")
    let events = decode(message, &decoder, &batch)
    let eventsAgain = decode(message, &decoder, &batch)
    demand(events == eventsAgain, "the same message gives \(events) events, then \(eventsAgain)")
    demand(events <= EventDecoder.mostItems, "\(events) events of one message")
    // What is said of an item's room in the decoder, and the ids and kinds that are given.
    demand(batch.storage.count <= 2 * 17 * count + 64 * batch.records.count, "\(batch.storage.count) bytes of storage")
    for index in batch.records.indices { check(batch[index]) }
    checkLines(of: batch)
    return 0
}

private let formats: [EventFormat] = {
    func pointer(_ text: String) -> JSONPointer { JSONPointer(text) ?? .whole }
    var nested = EventFormat(
        events: pointer("/data/items"), id: pointer("/id"), kind: pointer("/what/name"), actor: pointer("/user/0/n~1a"),
        post: pointer("/what/post"), createdAt: pointer("/at"), text: pointer("/text"), link: pointer("/text"))
    nested.kinds = ["note.reply": "comment", "fav": "like"]
    nested.only = [
        .init(pointer: pointer("/type"), values: [.string("event"), .number("2"), .null]),
        .init(pointer: pointer("/ok"), values: [.bool(true)]),
    ]
    let positional = EventFormat(id: pointer("/1"), kind: pointer("/3"), actor: pointer("/4/user"))
    return [.chirp, nested, positional, EventFormat(kind: .whole, text: .whole)]
}()

private func decode(
    _ message: UnsafeRawBufferPointer, _ decoder: inout EventDecoder, _ batch: inout EventBatch
) -> Int {
    let before = batch.records.count
    let outcome = decoder.decode(message.bytes, receivedAt: Instant(milliseconds: 0), into: &batch)
    demand(outcome.events == batch.records.count - before, "\(outcome.events) events are told, others are there")
    for report in outcome.reports {
        demandPrintable(report.excerpt, "an excerpt")
        demand(report.excerpt.count <= 201, "an excerpt of \(report.excerpt.count) characters")
    }
    return outcome.events
}

private func check(_ event: Event) {
    let record = event.record
    for range in [record.id, record.kind, record.actor, record.post, record.text, record.link, record.raw]
    where range.isPresent {
        demand(Int(range.offset) + Int(range.count) <= event.storage.count, "a range lies outside of the storage")
        demandText(event.text(of: range)?.utf8 ?? [], "a text")
    }
    demand(record.id.isPresent && record.id.count > 0, "an event without id")
    demand(record.kind.isPresent && record.raw.isPresent, "an event without kind or raw item")
}

/// The line that is printed of an event must be JSON that decodes to the same texts, and hold no controls.
///
/// Of an array of many small events the first few are printed, or the run would do nothing else.
private func checkLines(of batch: borrowing EventBatch) {
    var decoder = EventDecoder(format: lineFormat, ids: IDSource(stream: "line", random: 1, connection: 1))
    for index in batch.records.indices.prefix(8) { checkLine(of: batch[index].compacted(), &decoder) }
}

private func checkLine(of event: Event, _ decoder: inout EventDecoder) {
    var notice = Notice()
    event.withBytes(of: event.record.actor) { TextCleaning.append($0, to: &notice.title.utf8) }
    event.withBytes(of: event.record.text) { TextCleaning.append($0, to: &notice.body.utf8, as: .block) }
    demandPrintable(demandText(notice.title.utf8, "a title"), "a title")
    var line: [UInt8] = []
    NoticeLine.append(notice, event, sink: "fuzz", to: &line)
    demandPrintable(demandText(line, "a line"), "a line")

    var batch = EventBatch(stream: "line")
    _ = decoder.decode(line.span.bytes, receivedAt: Instant(milliseconds: 0), into: &batch)
    demand(batch.records.count == 1, "the line \(String(decoding: line, as: UTF8.self)) is no event")
    let printed = batch[0]
    demand(
        printed.text(of: printed.record.id) == event.text(of: event.record.id)
            && printed.text(of: printed.record.kind) == event.text(of: event.record.kind)
            && printed.text(of: printed.record.actor) == event.text(of: event.record.actor)
            && printed.text(of: printed.record.post) == event.text(of: event.record.post)
            && printed.record.createdAt == event.record.createdAt
            && printed.text(of: printed.record.text)?.utf8 ?? [] == notice.body.utf8,
        "the line \(String(decoding: line, as: UTF8.self)) tells something else than its event")
}

private let lineFormat = EventFormat(
    id: JSONPointer("/id"), kind: JSONPointer("/kind") ?? .whole, actor: JSONPointer("/actor"),
    post: JSONPointer("/post"), createdAt: JSONPointer("/createdAt"), text: JSONPointer("/body"))
