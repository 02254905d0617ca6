import RelayCore
import Testing
import WebSocketCodec

@testable import RelayStream

struct StreamConfigurationTests {
    /// A JSON value without its places.
    indirect enum JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
        ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable
    {
        case string(String), bool(Bool), number(Int), array([JSON]), object([(String, JSON)])

        init(stringLiteral value: String) { self = .string(value) }
        init(booleanLiteral value: Bool) { self = .bool(value) }
        init(integerLiteral value: Int) { self = .number(value) }
        init(arrayLiteral elements: JSON...) { self = .array(elements) }
        init(dictionaryLiteral elements: (String, JSON)...) { self = .object(elements) }

        func node(_ path: String) -> ConfigurationNode {
            let place = Position(line: 1, column: 1)
            let value: ConfigurationNode.Value =
                switch self {
                case .string(let text): .string(text)
                case .bool(let flag): .bool(flag)
                case .number(let number): .number("\(number)")
                case .array(let values):
                    .array(values.enumerated().map { $0.element.node("\(path)[\($0.offset)]") })
                case .object(let members):
                    .object(members.map { .init(key: $0.0, keyPosition: place, value: $0.1.node("\(path).\($0.0)")) })
                }
            return ConfigurationNode(value, at: place, path: path)
        }
    }

    private func read(_ json: JSON) -> (entry: StreamConfiguration.Entry?, problems: [String]) {
        let problems = Problems()
        let entry = StreamConfiguration.read(name: "chirp", node: json.node("streams.chirp"), problems: problems)
        return (entry, problems.all.map { "\($0.path): \($0.message)" })
    }

    @Test func shortestEntryHasStandards() throws {
        let (entry, problems) = read(["url": "wss://s.example.test/ws", "token": ["env": "TOKEN"]])
        #expect(problems.isEmpty)
        let expected = StreamConfiguration(
            name: "chirp", url: try WebSocketURL("wss://s.example.test/ws"), token: .environment("TOKEN"))
        #expect(entry?.configuration == expected)
        #expect(expected.ping == .seconds(30) && expected.pongTimeout == .seconds(10))
        #expect(expected.maxMessage >= 1 << 20)
    }

    @Test func everyKeyIsRead() throws {
        let (entry, problems) = read([
            "url": "wss://s.example.test/ws", "token": ["file": "token"], "header": "X-Token", "scheme": "",
            "headers": ["X-Account": "7", "X-Key": ["env": "KEY"]], "subprotocol": "v1.chirp", "format": "chirp",
            "link": "https://x/{post}", "ping": "20s", "pongTimeout": "5s",
            "redial": ["base": "2s", "cap": "1m", "held": "10s"], "authCloseCodes": [4001, 4003], "maxMessage": 2048,
            "insecure": false, "proxy": "http://127.0.0.1:3128",
            "tls": ["ca": "ca.pem", "certificate": "c", "key": "k"],
        ])
        #expect(problems.isEmpty)
        let read = try #require(entry?.configuration)
        #expect(read.header == "X-Token" && read.scheme.isEmpty)
        #expect(read.headers.map(\.name) == ["X-Account", "X-Key"])
        #expect(read.headers.map(\.value) == [.text("7"), .secret(.environment("KEY"))])
        #expect(read.subprotocol == "v1.chirp")
        #expect(read.ping == .seconds(20) && read.pongTimeout == .seconds(5))
        #expect(read.redial == RedialPolicy(base: .seconds(2), cap: .seconds(60), held: .seconds(10)))
        #expect(read.authCloseCodes == [4001, 4003])
        #expect(read.maxMessage == 2048)
        #expect(read.proxy == "http://127.0.0.1:3128")
        #expect(read.tls == .init(authorities: "ca.pem", certificate: "c", key: "k"))
        #expect(entry?.format != nil && entry?.link != nil)
    }

    @Test(arguments: ["ws://127.0.0.1:9001/x", "ws://localhost/x", "ws://[::1]:9001/x"])
    func loopbackNeedsNoTLS(_ url: String) {
        #expect(read(["url": .string(url)]).problems.isEmpty)
    }

    @Test func clearTextNeedsConsent() {
        let told = read(["url": "ws://s.example.test/x"]).problems
        #expect(told.count == 1 && told[0].contains("\"insecure\": true"))
        #expect(read(["url": "ws://s.example.test/x", "insecure": true]).problems.isEmpty)
    }

    @Test(arguments: [
        "http://s.example.test", "https://s.example.test", "wss://", "wss://user:pw@s.example.test/x",
        "wss://s.example.test/x#frag", "s.example.test",
    ])
    func badURLIsToldWithItsPath(_ url: String) {
        let (entry, problems) = read(["url": .string(url)])
        #expect(entry == nil)
        #expect(problems.count == 1 && problems[0].hasPrefix("streams.chirp.url: "))
        #expect(!problems.joined().contains("pw"))
    }

    struct Mistake: Sendable {
        var key: String
        var value: JSON
        var told: String
    }

    @Test(arguments: [
        Mistake(key: "tokn", value: "x", told: "streams.chirp.tokn: unknown key \"tokn\"; did you mean \"token\"?"),
        Mistake(key: "send", value: [], told: "streams.chirp.send: \"send\" is not supported yet"),
        Mistake(
            key: "headers", value: ["X-A": "a\r\nEvil: 1"],
            told: "streams.chirp.headers.X-A: must not hold line breaks or other control characters"),
        Mistake(
            key: "headers", value: ["Host": "a"],
            told: "streams.chirp.headers.Host: is set by the WebSocket handshake itself"),
        Mistake(
            key: "headers", value: ["authorization": "Bearer x"],
            told:
                "streams.chirp.headers.authorization: is the header of the token; change it with \"header\" and \"scheme\""
        ),
        Mistake(key: "headers", value: ["a b": "a"], told: "streams.chirp.headers.a b: is no header name"),
        Mistake(key: "header", value: "a:b", told: "streams.chirp.header: is no header name"),
        Mistake(
            key: "scheme", value: "a b",
            told: "streams.chirp.scheme: must be one word, such as \"Bearer\", or empty for the bare token"),
        Mistake(key: "subprotocol", value: "a,b", told: "streams.chirp.subprotocol: must be one word"),
        Mistake(
            key: "authCloseCodes", value: [99],
            told: "streams.chirp.authCloseCodes[0]: expected a whole number from 1000 to 4999, found 99"),
        Mistake(
            key: "redial", value: ["base": "1m", "cap": "1s"],
            told: "streams.chirp.redial: \"cap\" must not be shorter than \"base\""),
        Mistake(
            key: "redial", value: ["bse": "1m"],
            told: "streams.chirp.redial.bse: unknown key \"bse\"; did you mean \"base\"?"),
        Mistake(
            key: "proxy", value: "http://u:pw@h:1",
            told: "streams.chirp.proxy: a password is not written here; put the URL into $HTTPS_PROXY"),
        Mistake(
            key: "tls", value: ["key": "k"],
            told: "streams.chirp.tls: \"key\" needs the \"certificate\" that it belongs to"),
        Mistake(key: "ping", value: "0s", told: "streams.chirp.ping: must be from 100ms to 1h"),
        Mistake(
            key: "maxMessage", value: 10,
            told: "streams.chirp.maxMessage: expected a whole number from 1024 to 67108864, found 10"),
    ])
    func mistakeIsToldOnce(_ mistake: Mistake) {
        let json = JSON.object([("url", "wss://s.example.test/ws"), (mistake.key, mistake.value)])
        #expect(read(json).problems == [mistake.told])
    }

    @Test func allMistakesAreToldTogether() {
        let told = read(["url": "http://x", "ping": "x", "scheme": "a b", "sned": 1]).problems
        #expect(told.count == 4)
    }
}
