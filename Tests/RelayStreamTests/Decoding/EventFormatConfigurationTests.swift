import RelayCore
import RelayStream
import Testing

/// A configuration value, written as a Swift literal.
private indirect enum Value: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    case null
    case bool(Bool)
    case number(Int)
    case string(String)
    case array([Value])
    case object([(String, Value)])

    init(stringLiteral value: String) { self = .string(value) }
    init(integerLiteral value: Int) { self = .number(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(nilLiteral: ()) { self = .null }
    init(arrayLiteral elements: Value...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, Value)...) { self = .object(elements) }

    func node(_ path: String = "format") -> ConfigurationNode {
        let position = Position(line: 1, column: 1)
        let value: ConfigurationNode.Value =
            switch self {
            case .null: .null
            case .bool(let flag): .bool(flag)
            case .number(let number): .number(String(number))
            case .string(let text): .string(text)
            case .array(let values): .array(values.enumerated().map { $1.node("\(path)[\($0)]") })
            case .object(let members):
                .object(members.map { .init(key: $0.0, keyPosition: position, value: $0.1.node("\(path).\($0.0)")) })
            }
        return ConfigurationNode(value, at: position, path: path)
    }
}

struct EventFormatConfigurationTests {
    private func read(_ value: Value) -> (format: EventFormat?, problems: [String]) {
        let problems = Problems()
        let format = EventFormat.read(node: value.node(), problems: problems)
        return (format, problems.all.map { "\($0.path): \($0.message)" })
    }

    @Test func readyFormatIsFoundByName() {
        #expect(read("chirp").format == .chirp)
        #expect(read("chrip").problems == ["format: there is no ready format \"chrip\"; did you mean \"chirp\"?"])
        #expect(read("mastodon").problems == ["format: there is no ready format \"mastodon\"; there is \"chirp\""])
        #expect(read(7).problems == ["format: expected \"chirp\" or an object of JSON Pointers, found a number"])
    }

    @Test func objectIsRead() throws {
        let (format, problems) = read([
            "events": "/data", "id": "/id", "kind": "/type", "actor": "/user/name", "post": "/post~1id",
            "createdAt": "/at", "text": "/text", "link": "/url", "kinds": ["note.reply": "comment"],
            "only": ["/op": [0, "x", true, nil], "/v": 1],
        ])
        #expect(problems.isEmpty)
        var expected = EventFormat(kind: try #require(JSONPointer("/type")))
        expected.events = try #require(JSONPointer("/data"))
        expected.id = JSONPointer("/id")
        expected.actor = JSONPointer("/user/name")
        expected.post = JSONPointer("/post~1id")
        expected.createdAt = JSONPointer("/at")
        expected.text = JSONPointer("/text")
        expected.link = JSONPointer("/url")
        expected.kinds = ["note.reply": "comment"]
        expected.only = [
            .init(pointer: try #require(JSONPointer("/op")), values: [.number("0"), .string("x"), .bool(true), .null]),
            .init(pointer: try #require(JSONPointer("/v")), values: [.number("1")]),
        ]
        #expect(format == expected)
    }

    @Test(
        arguments: [
            (
                ["kind": "type"],
                "format.kind: \"type\" is no JSON Pointer, which begins with \"/\"; did you mean \"/type\"?"
            ),
            (["id": "/id"], "format: the key \"kind\" is missing"),
            (
                ["kind": "/a~2"],
                "format.kind: \"/a~2\" is no JSON Pointer: \"~\" is written \"~0\" in it, and \"/\" in a key \"~1\""
            ),
            (["kind": "/k", "actr": "/a"], "format.actr: unknown key \"actr\"; did you mean \"actor\"?"),
            (["kind": "/k", "embedded": "/data"], "format.embedded: \"embedded\" is not supported yet"),
            (["kind": 1], "format.kind: expected a JSON Pointer such as \"/user/name\", found a number"),
            (["kind": "/k", "kinds": ["a": 1]], "format.kinds.a: expected the name of a kind, found a number"),
            (
                ["kind": "/k", "kinds": []],
                "format.kinds: expected an object such as {\"note.reply\": \"comment\"}, found an array"
            ),
            (
                ["kind": "/k", "only": "/a"],
                "format.only: expected an object such as {\"/type\": [\"event\"]}, found a string"
            ),
            (["kind": "/k", "only": ["/a": []]], "format.only./a: must not be empty: no event would pass"),
            (
                ["kind": "/k", "only": ["a": 1]],
                "format.only.a: \"a\" is no JSON Pointer, which begins with \"/\"; did you mean \"/a\"?"
            ),
            (
                ["kind": "/k", "only": ["/a": [["b": 1]]]],
                "format.only./a[0]: expected a string, a number, true, false or null, found an object"
            ),
            (
                ["kind": "/k", "events": "/d", "only": ["/d/x": 1]],
                "format.only./d/x: \"/d/x\" lies within \"events\"; \"only\" looks at the envelope around the events"
            ),
        ] as [(Value, String)])
    private func mistakeIsTold(value: Value, problem: String) {
        let (format, problems) = read(value)
        #expect(format == nil)
        #expect(problems == [problem])
    }
}
