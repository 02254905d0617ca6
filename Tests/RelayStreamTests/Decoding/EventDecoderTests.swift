import RelayCore
import RelayStream
import RelayTestKit
import Testing

struct EventDecoderTests {
    @Test func ordinaryEventHasAllFields() throws {
        let message = chirpEvent(["text": "\"hello\"", "link": "\"https://chirp.example.com/p\"", "unknown": "[1,{}]"])
        let decoding = Decoding(message)
        let event = try #require(decoding.events.first)
        #expect(decoding.events.count == 1)
        #expect(event.id == "11111111-1111-4111-8111-111111111111")
        #expect(event.kind == "like")
        #expect(event.actor == "alice")
        #expect(event.post == "22222222-2222-4222-8222-222222222222")
        #expect(event.text == "hello")
        #expect(event.link == "https://chirp.example.com/p")
        #expect(event.createdAt == Instant(milliseconds: 1_893_553_445_000))
        #expect(event.hasServerID)
        #expect(decoding.counts.isEmpty)
        #expect(decoding.outcomes[0].events == 1)
        #expect(decoding.batch[0].text(of: decoding.batch.records[0].raw)?.string == message)
        #expect(decoding.batch.records[0].identity == EventID(high: 0x1141_1111_1111_1111, low: 0x1111_1111_1111_1181))
    }

    @Test(arguments: [
        "mention", "Like", "LIKE", " like ", "", String(repeating: "k", count: 65_536),
    ])
    func unknownKindIsKept(kind: String) {
        let decoding = Decoding(chirpEvent(["kind": "\"\(kind)\""]))
        #expect(decoding.kinds == [kind])
        #expect(decoding.counts.isEmpty)
    }

    @Test func veryLongKindIsCut() {
        let decoding = Decoding(chirpEvent(["kind": "\"" + String(repeating: "é", count: 500_000) + "\""]))
        #expect(decoding.kinds == [String(repeating: "é", count: 32_768)])
        #expect(decoding.counts == [.longText: 1])
    }

    @Test func longTextIsCutBetweenCharacters() {
        let decoding = Decoding(chirpEvent(["text": "\"a" + String(repeating: "é", count: 40_000) + "\""]))
        #expect(decoding.events.first?.text == "a" + String(repeating: "é", count: 32_767))
    }

    @Test(arguments: ["null", "7", "true", "[]", "{}", "[\"like\"]"])
    func kindThatIsNoStringCostsItsEventAlone(kind: String) {
        let decoding = Decoding("[\(chirpEvent(["kind": kind])),\(chirpEvent())]")
        #expect(decoding.kinds == ["like"])
        #expect(decoding.counts == [.badKind: 1])
    }

    @Test(arguments: [
        ("{\"type\":\"hello\"}", DecodeFault.notAnEvent), ("{}", .notAnEvent), ("null", .notAnEvent),
        ("\"ping\"", .notAnEvent), ("42", .notAnEvent), ("", .emptyMessage), (" \n ", .emptyMessage),
        ("not json", .notJSON), ("[[]]", .notAnEvent), ("{\"kind\"", .notJSON), ("\u{feff}", .emptyMessage),
        ("{\"error\":\"rate limited\",\"status\":429}", .serverError), ("{\"errors\":[1]}", .serverError),
        ("{\"error\":null}", .notAnEvent),
    ])
    func whatIsNoEventIsCounted(message: String, fault: DecodeFault) {
        let decoding = Decoding(message, chirpEvent())
        #expect(decoding.kinds == ["like"])
        #expect(decoding.counts == [fault: 1])
        #expect(decoding.outcomes[0].reports.map(\.fault) == [fault])
    }

    @Test func emptyArrayIsNoFault() {
        #expect(Decoding("[]").counts.isEmpty)
        #expect(Decoding("[]").events.isEmpty)
    }

    @Test func serverErrorIsReportedAgainAndOtherFaultsOnce() {
        let error = "{\"error\":\"no\\nway \u{202e}\"}"
        let decoding = Decoding(error, "{}", error, "{}")
        #expect(
            decoding.outcomes.map { $0.reports.map(\.fault) } == [[.serverError], [.notAnEvent], [.serverError], []])
        #expect(decoding.outcomes[0].reports[0].excerpt == "{\"error\":\"no\\nway \\u{202e}\"}")
        #expect(decoding.counts == [.serverError: 2, .notAnEvent: 2])
    }

    @Test func excerptIsShort() throws {
        let report = try #require(
            Decoding("{\"error\":\"" + String(repeating: "x", count: 9000) + "\"}").outcomes[0].reports.first)
        #expect(report.excerpt.count == 201)
        #expect(report.excerpt.hasPrefix("{\"error\":\"xxx"))
        let bytes = try #require(Decoding([UInt8](repeating: 0x80, count: 3000)).outcomes[0].reports.first)
        #expect(bytes.excerpt.count <= 201)
    }

    @Test(arguments: ["postID", "actorUsername"], [nil, "null", "\"\""])
    func missingNullAndEmptyFieldsAreAbsent(field: String, value: String?) throws {
        let decoding = Decoding(chirpEvent([field: value]))
        let event = try #require(decoding.events.first)
        #expect((field == "postID" ? event.post : event.actor) == nil)
        #expect(decoding.counts.isEmpty)
    }

    @Test func oddFieldsAreTakenAsTextOrAbsent() throws {
        let decoding = Decoding(chirpEvent(["postID": "\"not a uuid\"", "actorUsername": "17", "text": "{\"a\":1}"]))
        let event = try #require(decoding.events.first)
        #expect(event.post == "not a uuid")
        #expect(event.actor == "17")
        #expect(event.text == nil)
        #expect(decoding.counts == [.wrongType: 1])
    }

    @Test(arguments: [nil, "null", "\"\""])
    func eventWithoutIDIsGivenOne(id: String?) {
        let decoding = Decoding(chirpEvent(["id": id]), chirpEvent(["id": id]))
        #expect(decoding.ids == ["test-abc-7-1", "test-abc-7-2"])
        #expect(decoding.events.allSatisfy { !$0.hasServerID })
        #expect(decoding.batch.records[0].identity != decoding.batch.records[1].identity)
        #expect(decoding.counts == [.missingID: 2])
    }

    @Test func numberAndStringOfTheSameDigitsAreOneID() {
        let decoding = Decoding(
            chirpEvent(["id": "110988663231921363"]), chirpEvent(["id": "110988663231921360"]),
            chirpEvent(["id": "\"110988663231921363\""]), chirpEvent(["id": "-5"]))
        #expect(decoding.ids == ["110988663231921363", "110988663231921360", "110988663231921363", "-5"])
        let identities = decoding.batch.records.map(\.identity)
        #expect(identities[0] == identities[2])
        #expect(Set(identities).count == 3)
    }

    @Test(arguments: ["1e3", "-0", "1.5", "1E3", "1.0", "true", "[1]", "{}"])
    func idThatIsNoWholeNumberCostsItsEventAlone(id: String) {
        let decoding = Decoding("[\(chirpEvent(["id": id])),\(chirpEvent())]")
        #expect(decoding.events.count == 1)
        #expect(decoding.counts == [.badID: 1])
    }

    @Test(arguments: ["\"\"", nil, "null", "\"yesterday\"", "true", "-1", "1e9", "[]", "\"2030-02-30T00:00:00Z\""])
    func unusableTimeIsTheTimeOfReceipt(time: String?) {
        let decoding = Decoding(chirpEvent(["createdAt": time]))
        #expect(decoding.events.map(\.createdAt) == [Decoding.receivedAt])
        #expect(decoding.counts == [.unusableTime: 1])
    }

    @Test(arguments: [
        ("1893553445", 1_893_553_445_000), ("1893553445000", 1_893_553_445_000), ("\"1893553445\"", 1_893_553_445_000),
        ("1893553445.5", 1_893_553_445_500), ("0", 0), ("\"2030-01-02T03:04:05.123Z\"", 1_893_553_445_123),
        ("\"2030\\u002d01-02T03:04:05Z\"", 1_893_553_445_000), ("\"9999-12-31T23:59:59Z\"", 253_402_300_799_000),
    ])
    func timeIsReadInManyForms(time: String, milliseconds: Int64) {
        let decoding = Decoding(chirpEvent(["createdAt": time]))
        #expect(decoding.events.map(\.createdAt) == [Instant(milliseconds: milliseconds)])
        #expect(decoding.counts.isEmpty)
    }

    @Test func randomBytesCostTheirMessageAlone() {
        var generator = SeededGenerator(seed: 41)
        let random = (0..<1_048_576).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let decoding = Decoding(Array(chirpEvent().utf8), random, Array(chirpEvent().utf8))
        #expect(decoding.events.count == 2)
        #expect(decoding.counts.values.reduce(0, +) == 1)
    }

    @Test(
        arguments: [
            [0x7b, 0x22, 0xc3, 0x28], [0x22, 0xf0, 0x9f, 0x98], [0x22, 0xc0, 0xaf, 0x22],
            [0x22, 0xed, 0xa0, 0x80, 0x22],
            [0x22, 0xff, 0x22], Array(repeating: 0x80, count: 100),
        ] as [[UInt8]])
    func illFormedUTF8CostsTheMessage(bytes: [UInt8]) {
        let decoding = Decoding(bytes, Array(chirpEvent().utf8))
        #expect(decoding.events.count == 1)
        #expect(decoding.counts == [.notUTF8: 1])
    }

    @Test func byteOrderMarkIsRemovedOnce() {
        #expect(Decoding("\u{feff}" + chirpEvent()).events.count == 1)
        #expect(Decoding("\u{feff}\u{feff}" + chirpEvent()).counts == [.notJSON: 1])
        let inside = Decoding(chirpEvent(["actorUsername": "\"\u{feff}alice\""]))
        #expect(inside.events.first?.actor?.unicodeScalars.first == "\u{feff}")
        let wide = chirpEvent().utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        #expect(Decoding([0xFF, 0xFE] + wide).events.isEmpty)
        #expect(Decoding(wide).events.isEmpty)
    }

    @Test func loneSurrogateBecomesReplacementCharacter() {
        let text = #""a\ud83db\ude00c\ud83d\ude00\ud83d\ud83d\ude00\ud83d\u0041\ud83d""#
        let decoding = Decoding(chirpEvent(["actorUsername": text, "kind": #""\udc00""#]))
        #expect(decoding.events.first?.actor == "a\u{fffd}b\u{fffd}c😀\u{fffd}😀\u{fffd}A\u{fffd}")
        #expect(decoding.kinds == ["\u{fffd}"])
    }

    @Test func escapesAreUnescaped() {
        let decoding = Decoding(chirpEvent(["text": #""\"\\\/\b\f\n\r\t\u0000\u00e9\u20AC\u001b""#]))
        #expect(decoding.events.first?.text == "\"\\/\u{8}\u{c}\n\r\t\0é€\u{1b}")
    }

    @Test func escapedKeysAreKeys() {
        let decoding = Decoding(#"{"k\u0069nd":"like","i\u0064":"5","x\n":"\\"}"#)
        #expect(decoding.kinds == ["like"])
        #expect(decoding.ids == ["5"])
    }

    @Test func lastOfDoubledKeysCounts() {
        let decoding = Decoding(#"{"kind":"a","id":"1","postID":"p","kind":"b","id":"2","postID":null}"#)
        #expect(decoding.kinds == ["b"])
        #expect(decoding.ids == ["2"])
        #expect(decoding.events.first?.post == nil)
    }

    @Test(arguments: ["\n", "\r\n", " \n\n ", "\n\t"])
    func eachLineIsADocument(separator: String) {
        let lines = ["a", "b", "c"].map { chirpEvent(["kind": "\"\($0)\""]) }
        #expect(Decoding(lines.joined(separator: separator)).kinds == ["a", "b", "c"])
        #expect(Decoding(lines.joined(separator: separator) + "\n").kinds == ["a", "b", "c"])
        #expect(Decoding("[\(lines[0]),\(lines[1])]\n\(lines[2])").kinds == ["a", "b", "c"])
    }

    @Test func documentsOnOneLineAreNotJSON() {
        #expect(Decoding(chirpEvent() + chirpEvent()).counts == [.notJSON: 1])
        #expect(Decoding(chirpEvent() + " " + chirpEvent()).counts == [.notJSON: 1])
        #expect(Decoding(chirpEvent() + "\n" + chirpEvent() + "\n{").events.isEmpty)
    }

    @Test func itemsBeyondTheLimitAreCounted() {
        let decoding = Decoding(
            "[" + Array(repeating: "{\"kind\":\"a\",\"id\":1}", count: 10_250).joined(separator: ",") + "]")
        #expect(decoding.events.count == 10_000)
        #expect(decoding.counts == [.tooManyItems: 250, .unusableTime: 10_000])
    }

    @Test func batchIsAppendedTo() {
        let decoding = Decoding(
            chirpEvent(["kind": "\"a\\n\""]), "{", "[\(chirpEvent()),1,\(chirpEvent(["kind": "\"b\""]))]")
        #expect(decoding.kinds == ["a\n", "like", "b"])
        #expect(decoding.outcomes.map(\.events) == [1, 0, 2])
    }
}
