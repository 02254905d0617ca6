import RelayCore
import Testing

@testable import RelayStream

struct PageReaderTests {
    private static let odd = EventFormat(
        events: JSONPointer(key: "data"), id: JSONPointer("/0"), kind: JSONPointer("/1") ?? .whole)

    private func read(
        _ body: [UInt8], format: EventFormat = .chirp, events: String = "/events", room: Int = 100
    ) throws -> PageReader.Result {
        var configuration = try CatchUpFixtures.configuration(.oldest)
        configuration.events = try #require(JSONPointer(events))
        var reader = PageReader(configuration, format: format, stream: "chirp", random: 7)
        let next = NextAddress(
            configuration: configuration, cursor: CatchUpFixtures.cursor(1), page: Secret("http://127.0.0.1:9/e"))
        return try reader.read(
            body, links: [], room: room, receivedAt: CatchUpFixtures.time(99), next: next, hiding: [Secret("PLANTED")])
    }

    private func read(
        _ body: String, format: EventFormat = .chirp, events: String = "/events", room: Int = 100
    ) throws -> PageReader.Result {
        try read(Array(body.utf8), format: format, events: events, room: room)
    }

    private func fault(_ body: [UInt8]) -> String? {
        do {
            _ = try read(body)
            return nil
        } catch {
            return (error as? PageFault)?.reason
        }
    }

    private func ids(_ result: PageReader.Result) -> [String] {
        let batch = result.page.batch
        return batch.records.indices.map { batch[$0].text(of: batch.records[$0].id)?.string ?? "" }
    }

    @Test func elementsAreReadAsMessagesAre() throws {
        let result = try read(
            """
            \u{FEFF} {"next": "p2", "events": [
              {"id": "a\\u00e9", "kind": "like", "actorUsername": "ann", "postID": "P", "createdAt": "2030-01-02T03:04:05Z"},
              {"id": 7, "kind": "comment", "text": "h\\"i"} ]}

            """)
        #expect(ids(result) == ["aé", "7"])
        #expect(result.page.count == 2 && !result.page.isCut)
        #expect(result.page.next?.reveal() == "http://127.0.0.1:9/e?after=p2")
        let batch = result.page.batch
        #expect(batch.records.map(\.createdAt) == [Instant(milliseconds: 1_893_553_445_000), CatchUpFixtures.time(99)])
        #expect(batch[0].text(of: batch.records[0].actor)?.string == "ann")
        #expect(batch[1].text(of: batch.records[1].text)?.string == "h\"i")
        let text = Array("7".utf8)
        #expect(batch.records[1].identity == EventID(text: text.span.bytes))
    }

    @Test func badElementsCostThemselves() throws {
        let result = try read(
            """
            {"events": [1, "x", null, {"kind": 5, "id": "a"}, {"id": 1.5, "kind": "like"}, {"error": "PLANTED no"},
              {"id": "b", "kind": "like"}, {"kind": "like"}]}
            """)
        #expect(ids(result).first == "b" && result.page.batch.records.count == 2)
        #expect(result.page.batch.records.map(\.hasServerID) == [true, false])
        #expect(result.page.count == 8)
        #expect(
            Set(result.reports.map(\.fault)).isSuperset(of: [.notAnEvent, .badKind, .badID, .serverError, .missingID]))
        #expect(!result.reports.contains { $0.excerpt.contains("PLANTED") })
    }

    @Test(arguments: ["{\"events\": []}", "{\"events\": null}"])
    func emptyListIsNoFault(_ body: String) throws {
        let result = try read(body)
        #expect(result.page.count == 0 && result.page.batch.records.isEmpty)
    }

    @Test func pageMayBeTheList() throws {
        #expect(ids(try read("[{\"id\":\"a\",\"kind\":\"k\"}]", events: "")) == ["a"])
    }

    @Test func whatIsAroundTheItemsOfAMessageIsNotAskedOfAPage() throws {
        var format = Self.odd
        format.only = [.init(pointer: JSONPointer(key: "type"), values: [.string("event")])]
        #expect(ids(try read("{\"events\": [[\"a\", \"like\"], [\"b\", \"like\"]]}", format: format)) == ["a", "b"])
    }

    @Test func filterOfWholeMessagesFiltersElements() throws {
        var format = EventFormat.chirp
        format.only = [.init(pointer: JSONPointer(key: "type"), values: [.string("event")])]
        let body =
            "{\"events\": [{\"id\":\"a\",\"kind\":\"k\",\"type\":\"event\"},{\"id\":\"b\",\"kind\":\"k\",\"type\":\"x\"}]}"
        #expect(ids(try read(body, format: format)) == ["a"])
    }

    @Test func roomIsNotExceeded() throws {
        let items = (0..<10).map { "{\"id\":\"\($0)\",\"kind\":\"k\"}" }.joined(separator: ",")
        let cut = try read("{\"events\": [\(items)]}", room: 4)
        #expect(ids(cut) == ["0", "1", "2", "3"] && cut.page.isCut && cut.page.count == 4)
        let exact = try read("{\"events\": [\(items)]}", room: 10)
        #expect(exact.page.batch.records.count == 10 && !exact.page.isCut)
        // An element may be a list of events.
        let nested = try read("{\"events\": [[\(items)], [\(items)]]}", room: 15)
        #expect(nested.page.batch.records.count == 15 && nested.page.isCut && nested.page.count == 15)
        let junk = try read("{\"events\": [1,2,3,4,5]}", room: 3)
        #expect(junk.page.isCut && junk.page.count == 3)
    }

    @Test(arguments: [
        ("", "the page is empty"), ("  \n", "the page is empty"), ("<html>", "the page is not JSON"),
        ("{\"events\": [}", "the page is not JSON"), ("{\"events\": []} x", "the page is not JSON"),
        ("{\"events\": []}\n{\"events\": []}", "the page is more than one JSON document"),
        ("{\"event\": []}", "the page has no array at \"/events\", where \"events\" points to"),
        ("{\"events\": {\"0\": 1}}", "the page has no array at \"/events\", where \"events\" points to"),
        ("{\"events\": \"[]\"}", "the page has no array at \"/events\", where \"events\" points to"),
        ("7", "the page has no array at \"/events\", where \"events\" points to"),
        ("null", "the page has no array at \"/events\", where \"events\" points to"),
    ])
    func pageThatIsNoneIsAFault(_ body: String, _ reason: String) {
        #expect(fault(Array(body.utf8)) == reason)
    }

    @Test func pageThatIsNoTextOrTooDeepIsAFault() {
        #expect(fault(Array("{\"events\": [\"".utf8) + [0xC3, 0x28] + Array("\"]}".utf8)) == "the page is not UTF-8")
        let deep = String(repeating: "[", count: 70) + String(repeating: "]", count: 70)
        #expect(fault(Array("{\"events\": \(deep)}".utf8)) == "the page is nested over 64 levels deep")
    }

    @Test func hugePageOfNumbersIsReadInBounds() throws {
        let numbers = [UInt8]("{\"events\":[1".utf8) + [UInt8](repeating: 0, count: 0)
        var body = numbers
        while body.count < 8 << 20 { body += Array(",1".utf8) }
        body += Array("]}".utf8)
        let result = try read(body, room: 10_000)
        #expect(result.page.isCut && result.page.count == 10_000 && result.page.batch.records.isEmpty)
    }
}
