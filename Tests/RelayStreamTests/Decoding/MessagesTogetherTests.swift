import RelayCore
import RelayStream
import RelayTestKit
import Testing

/// Messages that lie in one buffer, read together, against the same messages one by one.
struct MessagesTogetherTests {
    /// What a decoder made of messages, to compare.
    private struct Made: Equatable {
        var events: [DecodedEvent] = []
        var raw: [String?] = []
        var told = 0
        var reports: [String] = []
        var counts: [DecodeFault: Int] = [:]
    }

    private static let formats: [EventFormat] = {
        func pointer(_ text: String) -> JSONPointer { JSONPointer(text) ?? .whole }
        var nested = EventFormat(
            events: pointer("/data"), id: pointer("/id"), kind: pointer("/kind"), actor: pointer("/by/0"),
            post: pointer("/postID"), createdAt: pointer("/createdAt"), text: pointer("/a\\b"))
        nested.only = [.init(pointer: pointer("/type"), values: [.string("event")])]
        var flat = EventFormat(id: pointer("/id"), kind: pointer("/kind"), actor: pointer("/"), text: pointer("/text"))
        flat.kinds = ["like": "fav"]
        flat.only = [.init(pointer: pointer("/type"), values: [.string("event"), .null])]
        return [.chirp, nested, flat]
    }()

    /// Each is one message; the odd ones would leave a string, an escape or an object open for the next one.
    private static let messages: [String] = [
        chirpEvent(), chirpEvent(["kind": "\"comment\""]), chirpEvent(["postID": "null"]),
        chirpEvent(["actorUsername": nil]),
        chirpEvent(["text": "\"a \\\"b\\\" \\u00e9\""]), chirpEvent(["kind": "\"li\\u006be\""]),
        chirpEvent(["id": nil]),
        chirpEvent(["id": "17"]), chirpEvent(["createdAt": "1900000000"]), chirpEvent(["createdAt": "\"soon\""]),
        chirpEvent(["more": "{\"kind\": [1, {\"id\": \"x\"}]}"]), chirpEvent(["kind": "null"]), "[]", "{}", "  { } ",
        "[\(chirpEvent()),\(chirpEvent(["kind": "\"follow\""]))]", chirpEvent() + "\n" + chirpEvent(),
        chirpEvent() + chirpEvent(), " " + chirpEvent(["": "\"ann\""]) + " \n", "\u{FEFF}" + chirpEvent(), "",
        " ", "null", "17", "-", "true", "\"abc\"", "\"abc", "abc\"", "\"", "\\", "{\"a\":\"b", "c\"}",
        "\",\"kind\":\"x\"}",
        "{\"kind\":\"x\"", ",\"id\":\"y\"}", "}", "]", "[", "{", "[{\"kind\":\"x\"},", "{\"kind\":\"x\"}]",
        "{\"kind\":\"x\"}\\", "{\"kind\":\"x\\\"}", "{\"kind\":\"x\\", "{\"error\":\"no\"}",
        "{\"id\":\"a\",\"id\":\"b\"}", chirpEvent(["postID": "nulx"]), chirpEvent(["postID": "nullx"]),
        chirpEvent(["postID": "[null]"]), chirpEvent(["id": "null"]), chirpEvent(["createdAt": "null"]),
        "{\"kind\":\"x\",\"postID\":null,\"postID\":{}}", "{\"kind\":null,\"kind\":\"x\"}",
        "{\"id\" :\"1\",\"kind\": \"x\",\"postID\":null }", "{\"if\":\"1\",\"kinds\":\"x\",\"actorUsernames\":\"y\"}",
        "{\"kind\":\"x\",\"kind\":1}", "{\"kind\" : \"x\" , \"id\" :\"1\"}",
        "{\"type\":\"event\",\"kind\":\"like\",\"\":\"bo\",\"text\":\"\"}",
        "{\"type\":null,\"id\":\"\",\"kind\":\"like\"}",
        "{\"type\":\"event\",\"data\":[{\"kind\":\"a\",\"by\":[\"b\"]},{\"kind\":\"c\",\"a\\\\b\":\"d\"}]}",
        "{\"data\":{\"kind\":\"a\",\"by\":[1]},\"type\":\"event\"}", "{\"data\":[{\"kind\":\"a\"}],\"type\":\"other\"}",
    ]

    private func made(
        of messages: [[UInt8]], format: EventFormat,
        _ decode: (inout EventDecoder, inout EventBatch) -> [DecodeOutcome]
    ) -> Made {
        var decoder = EventDecoder(format: format, ids: IDSource(stream: "test", random: 1, connection: 1))
        var batch = EventBatch(stream: "test")
        let outcomes = decode(&decoder, &batch)
        var made = Made()
        made.events = batch.records.indices.map { DecodedEvent(batch[$0]) }
        made.raw = batch.records.indices.map { batch[$0].text(of: batch[$0].record.raw)?.string }
        made.told = outcomes.reduce(0) { $0 + $1.events }
        made.reports = outcomes.flatMap(\.reports).map { "\($0.fault): \($0.excerpt)" }
        made.counts = decoder.counts
        return made
    }

    @Test(arguments: 0..<600 as Range<UInt64>)
    func readTogetherTheyGiveWhatEachGives(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let format = Self.formats[Int(seed) % Self.formats.count]
        // Mostly good messages, or most runs would end at once.
        let share = [0, 5, 30, 100].randomElement(using: &generator) ?? 0
        let messages = (0..<Int.random(in: 1...60, using: &generator)).map { _ -> [UInt8] in
            let isAny = Int.random(in: 0..<100, using: &generator) < share
            let text =
                isAny
                ? Self.messages.randomElement(using: &generator)
                : Self.messages.prefix(5).randomElement(using: &generator)
            var bytes = Array((text ?? "").utf8)
            if Int.random(in: 0..<200, using: &generator) < share / 10, !bytes.isEmpty {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            return bytes
        }
        // What lies between is spaces, nothing, or something that is no white space.
        let gap = [[0x20, 0x20], [0x20, 0x20, 0x20, 0x20], [], [0x22, 0x20], [0x81, 0x5C]] as [[UInt8]]
        let between = seed % 3 == 0 ? gap.randomElement(using: &generator) ?? [] : gap[Int(seed % 2)]
        var buffer: [UInt8] = [0x22, 0x5C]
        var places: [Range<Int>] = []
        for message in messages {
            buffer += between
            places.append(buffer.count..<(buffer.count + message.count))
            buffer += message
        }
        buffer += [0x22, 0x7B]
        let together = made(of: messages, format: format) { decoder, batch in
            [decoder.decode(buffer, at: places, receivedAt: Decoding.receivedAt, into: &batch)]
        }
        let single = made(of: messages, format: format) { decoder, batch in
            messages.map { decoder.decode($0.span.bytes, receivedAt: Decoding.receivedAt, into: &batch) }
        }
        #expect(together == single, "seed \(seed)")
    }

    /// More than are read at once, in bytes and in items.
    @Test func manyMessagesAreAllRead() {
        let array = "[" + Array(repeating: "{\"kind\":\"like\"}", count: 400).joined(separator: ",") + "]"
        let long = chirpEvent(["text": "\"" + String(repeating: "é", count: 40_000) + "\""])
        let messages = Array(repeating: [chirpEvent(), array, chirpEvent(), long], count: 4).flatMap(\.self)
        let buffer = Array(messages.joined(separator: "  ").utf8)
        var places: [Range<Int>] = []
        for message in messages {
            let start = (places.last?.upperBound).map { $0 + 2 } ?? 0
            places.append(start..<(start + message.utf8.count))
        }
        var decoder = EventDecoder(format: .chirp, ids: IDSource(stream: "test", random: 1, connection: 1))
        var batch = EventBatch(stream: "test")
        let outcome = decoder.decode(buffer, at: places, receivedAt: Decoding.receivedAt, into: &batch)
        #expect(outcome.events == 4 * 403)
        #expect(batch.records.count == 4 * 403)
        #expect(DecodedEvent(batch[4 * 403 - 1]).text?.utf8.count == 65_536)
    }

    /// The ones behind a full batch are decoded into it too.
    @Test func aBatchThatHoldsEventsTakesMore() {
        let buffer = Array((chirpEvent() + "  " + chirpEvent(["text": "\"\\n\""])).utf8)
        let end = chirpEvent().utf8.count
        var decoder = EventDecoder(format: .chirp, ids: IDSource(stream: "test", random: 1, connection: 1))
        var batch = EventBatch(stream: "test")
        for _ in 0..<2 {
            _ = decoder.decode(
                buffer, at: [0..<end, (end + 2)..<buffer.count], receivedAt: Decoding.receivedAt, into: &batch)
        }
        let events = batch.records.indices.map { DecodedEvent(batch[$0]) }
        #expect(events.count == 4)
        #expect(events.map(\.text) == [nil, "\n", nil, "\n"])
        #expect(events.allSatisfy { $0.kind == "like" })
    }
}
