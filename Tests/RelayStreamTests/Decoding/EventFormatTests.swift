import RelayCore
import RelayStream
import Testing

struct EventFormatTests {
    private static func pointer(_ text: String) throws -> JSONPointer {
        try #require(JSONPointer(text))
    }

    @Test func flatFormatWithoutIDsIsMapped() throws {
        var format = EventFormat(kind: try Self.pointer("/action"), post: try Self.pointer("/path"))
        format.kinds = ["save": "saved"]
        let schema = "\"schema_id\": \"https://events.jupyter.org/jupyter_server/contents_service/v1\""
        let decoding = Decoding(
            "{\(schema), \"action\": \"get\", \"path\": \"note.txt\"}",
            "{\(schema), \"action\": \"save\", \"path\": \"note.txt\"}",
            "{\(schema), \"action\": \"rename\", \"path\": \"renamed-note.txt\", \"source_path\": \"note.txt\"}",
            format: format)
        #expect(decoding.kinds == ["get", "saved", "rename"])
        #expect(decoding.events.map(\.post) == ["note.txt", "note.txt", "renamed-note.txt"])
        #expect(decoding.ids == ["test-abc-7-1", "test-abc-7-2", "test-abc-7-3"])
        #expect(
            decoding.events.allSatisfy { !$0.hasServerID && $0.actor == nil && $0.createdAt == Decoding.receivedAt })
        #expect(decoding.counts.isEmpty)
        #expect(!format.mapsID)
    }

    @Test func deepFormatWithFilterIsMapped() throws {
        var format = EventFormat(kind: try Self.pointer("/method"), post: try Self.pointer("/params/0/item/path"))
        format.only = [.init(pointer: try Self.pointer("/method"), values: [.string("notify_filelist_changed")])]
        let decoding = Decoding(
            "{\"jsonrpc\":\"2.0\",\"result\":{\"connection_id\":139731796858448},\"id\":1}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notify_proc_stat_update\",\"params\":[{\"cpu_temp\":null,\"load\":{\"cpu\":2.27}}]}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notify_filelist_changed\",\"params\":[{\"action\":\"create_file\",\"item\":"
                + "{\"modified\":1796060839.8191426,\"size\":4,\"permissions\":\"rw\",\"path\":\"p1.gcode\",\"root\":\"gcodes\"}}]}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notify_filelist_changed\",\"params\":[{\"action\":\"delete_file\",\"item\":"
                + "{\"size\":0,\"modified\":0,\"permissions\":\"\",\"path\":\"p1.gcode\",\"root\":\"gcodes\"}}]}",
            format: format)
        #expect(decoding.kinds == ["notify_filelist_changed", "notify_filelist_changed"])
        #expect(decoding.events.map(\.post) == ["p1.gcode", "p1.gcode"])
        #expect(decoding.counts == [.filtered: 2])
        #expect(decoding.outcomes.allSatisfy { $0.reports.isEmpty })
    }

    @Test func itemsAreFoundInsideAnEnvelope() throws {
        var format = EventFormat(
            events: try Self.pointer("/data/items"), id: try Self.pointer("/id"), kind: try Self.pointer("/what/name"))
        format.only = [
            .init(pointer: try Self.pointer("/type"), values: [.string("event"), .number("2"), .null]),
            .init(pointer: try Self.pointer("/ok"), values: [.bool(true)]),
        ]
        let a = "{\"id\":1,\"what\":{\"name\":\"a\"}}"
        let b = "{\"what\":{\"name\":\"b\"},\"id\":2}"
        let decoding = Decoding(
            // The filter may stand behind the items, and an array at the top is many envelopes.
            "{\"data\":{\"items\":[\(a),{},\(b)]},\"type\":\"event\",\"ok\":true}",
            "{\"data\":{\"items\":\(a)},\"type\":2,\"ok\":true}",
            "[{\"data\":{\"items\":[\(a)]},\"type\":\"other\",\"ok\":true},{\"type\":null,\"ok\":true,\"data\":{\"items\":[\(b)]}}]",
            "{\"data\":{\"items\":[\(a)]},\"type\":\"event\",\"ok\":false}",
            "{\"data\":{\"items\":[]},\"ok\":true,\"type\":\"ev\\u0065nt\"}",
            "{\"data\":{},\"type\":2,\"ok\":true}", "{\"error\":\"x\",\"type\":2,\"ok\":true}", format: format)
        #expect(decoding.kinds == ["a", "b", "a", "b"])
        #expect(decoding.ids == ["1", "2", "1", "2"])
        #expect(decoding.counts == [.filtered: 2, .notAnEvent: 2, .serverError: 1])
    }

    @Test func doubledKeyReplacesTheItemsOfTheFirst() throws {
        let format = EventFormat(events: try Self.pointer("/d/i"), kind: try Self.pointer("/k"))
        #expect(
            Decoding("{\"d\":{\"i\":[{\"k\":\"a\"}]},\"d\":{\"i\":[{\"k\":\"b\"}]}}", format: format).kinds == ["b"])
        let gone = Decoding("{\"d\":{\"i\":[{\"k\":\"a\"}]},\"d\":{}}", format: format)
        #expect(gone.events.isEmpty)
        #expect(gone.counts == [.notAnEvent: 1])
        let deep = EventFormat(kind: try Self.pointer("/k"), actor: try Self.pointer("/u/n"))
        #expect(Decoding("{\"k\":\"a\",\"u\":{\"n\":\"x\"},\"u\":1}", format: deep).events.first?.actor == nil)
    }

    @Test func arrayIsOneEnvelopeIfAllPointersAreIndexes() throws {
        let format = EventFormat(kind: try Self.pointer("/3"), actor: try Self.pointer("/4/user"))
        let decoding = Decoding("[null,\"7\",\"room\",\"new_msg\",{\"user\":\"bo\"}]", format: format)
        #expect(decoding.kinds == ["new_msg"])
        #expect(decoding.events.first?.actor == "bo")
    }

    @Test func pointerToTheWholeIsTheItem() throws {
        let format = EventFormat(kind: .whole)
        #expect(Decoding("\"ping\"", "[\"a\" , \"b\"]", format: format).kinds == ["ping", "a", "b"])
    }

    @Test(arguments: ["", "/", "/a", "/a~0b~1c", "/0", "//"])
    func pointerIsTaken(text: String) {
        #expect(JSONPointer(text)?.text == text)
    }

    @Test(arguments: ["a", "~", "/~", "/a~2", "/a~", "#/a", "$.a"])
    func otherTextIsNoPointer(text: String) {
        #expect(JSONPointer(text) == nil)
    }
}
