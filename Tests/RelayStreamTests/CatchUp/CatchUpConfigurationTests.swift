import RelayCore
import Testing
import WebSocketCodec

@testable import RelayStream

struct CatchUpConfigurationTests {
    typealias JSON = StreamConfigurationTests.JSON

    private static let good: [(String, JSON)] = [
        ("url", "/e?after={cursor}"), ("events", "/items"), ("order", "oldest"), ("next", "/next"),
    ]

    private func read(
        _ changes: [(String, JSON)], without missing: String? = nil, stream: [(String, JSON)] = [],
        url: JSON = "wss://s.example.test:8443/ws"
    ) -> (catchUp: CatchUpConfiguration?, problems: [String]) {
        let kept = Self.good.filter { key, _ in key != missing && !changes.contains { $0.0 == key } }
        let json = JSON.object([("url", url), ("catchUp", .object(kept + changes))] + stream)
        let problems = Problems()
        let entry = StreamConfiguration.read(name: "chirp", node: json.node("streams.chirp"), problems: problems)
        return (entry?.configuration.catchUp, problems.all.map { "\($0.path): \($0.message)" })
    }

    @Test func everyKeyIsRead() throws {
        let (catchUp, problems) = read([("next", "link"), ("maxPages", 3), ("maxEvents", 50000), ("order", "newest")])
        #expect(problems == [])
        let read = try #require(catchUp)
        #expect(read.events == JSONPointer(key: "items") && read.order == .newest && read.next == .link)
        #expect(read.maxPages == 3 && read.maxEvents == 50_000)
        let cursor = StreamCursor(id: UntrustedText("a/b"), createdAt: Instant(milliseconds: 0))
        #expect(read.url.expanded(cursor).reveal() == "https://s.example.test:8443/e?after=a%2Fb")
    }

    @Test func standardsAreThoseOfTheDesign() {
        let (catchUp, problems) = read([])
        #expect(problems == [])
        #expect(catchUp?.maxPages == 20 && catchUp?.maxEvents == 10_000)
        #expect(catchUp?.next == JSONPointer("/next").map { .pointer($0) })
    }

    /// What comes both ways during the longest catch-up is still known at its end.
    @Test func moreIdsAreRememberedThanAnyCatchUpBrings() {
        #expect(SeenEvents(seed: 1).capacity >= 2 * CatchUpConfiguration.eventCount.upperBound)
    }

    struct Mistake: Sendable {
        var key: String
        var value: JSON
        var told: String
    }

    @Test(arguments: [
        Mistake(
            key: "url", value: 7,
            told: "url: expected a path such as \"/events?after={cursor}\", or a URL, found a number"),
        Mistake(
            key: "url", value: "events?after={cursor}",
            told: "url: expected a path such as \"/events?after={cursor}\", or a URL that begins with \"https://\""),
        Mistake(
            key: "url", value: "wss://s.example.test/{cursor}",
            told: "url: pages are fetched over HTTP; write \"https://\""),
        Mistake(
            key: "url", value: "ws://localhost/{cursor}", told: "url: pages are fetched over HTTP; write \"http://\""),
        Mistake(
            key: "url", value: "http://s.example.test/{cursor}",
            told: "url: http:// would send the token in the clear; use https://, or set \"insecure\": true"),
        Mistake(
            key: "url", value: "https://{cursor}.example.test/",
            told: "url: needs a path behind the host, and placeholders only in path and query"),
        Mistake(
            key: "url", value: "https://s.example.test{cursor}",
            told: "url: needs a path behind the host, and placeholders only in path and query"),
        Mistake(
            key: "url", value: "{cursor}",
            told: "url: begins with a placeholder; write a path such as \"/events?after={cursor}\""),
        Mistake(
            key: "url", value: "//evil.example.test/{cursor}",
            told: "url: has two slashes and no scheme before them"),
        Mistake(
            key: "url", value: "https://user:PLANTED@s.example.test/{cursor}",
            told: "url: has a user or a password before \"@\"; the token of the stream is sent by itself"),
        Mistake(
            key: "url", value: "/e?after={cursr}",
            told: "url: unknown placeholder \"{cursr}\"; did you mean \"cursor\"?"),
        Mistake(
            key: "url", value: "/e?after={cursor",
            told: "url: has a single brace; write it twice, or a placeholder such as {cursor}"),
        Mistake(
            key: "url", value: "/e?a={cursor}#x",
            told: "url: has a fragment (\"#...\"), which is never sent; leave it out, or write \"%23\""),
        Mistake(
            key: "url", value: "/e f?a={cursor}",
            told: "url: the URL has a space or a control character; in a path it is written as %20 and the like"),
        Mistake(
            key: "url", value: "/e",
            told: "url: needs {cursor} or {cursorTime}: \"oldest\" begins at the last event, not at the first one"),
        Mistake(
            key: "events", value: "items",
            told: "events: \"items\" is no JSON Pointer, which begins with \"/\"; did you mean \"/items\"?"),
        Mistake(
            key: "order", value: "newst",
            told: "order: expected \"oldest\" or \"newest\", found \"newst\"; did you mean \"newest\"?"),
        Mistake(
            key: "next", value: "lnk",
            told: "next: expected \"link\", or a JSON Pointer such as \"/next\"; did you mean \"link\"?"),
        Mistake(
            key: "next", value: "cursor",
            told: "next: \"cursor\" is no JSON Pointer, which begins with \"/\"; did you mean \"/cursor\"?"),
        Mistake(
            key: "next", value: "",
            told: "next: expected \"link\", or a JSON Pointer such as \"/next\", found an empty text"),
        Mistake(key: "maxPages", value: 0, told: "maxPages: expected a whole number from 1 to 1000, found 0"),
        Mistake(
            key: "maxEvents", value: 50001,
            told: "maxEvents: expected a whole number from 1 to 50000, found 50001"),
        Mistake(key: "maxPage", value: 1, told: "maxPage: unknown key \"maxPage\"; did you mean \"maxPages\"?"),
    ])
    func mistakeIsToldOnce(_ mistake: Mistake) {
        let problems = read([(mistake.key, mistake.value)]).problems
        #expect(problems == ["streams.chirp.catchUp." + mistake.told])
        #expect(!problems.joined().contains("PLANTED"))
    }

    @Test(arguments: ["url", "events", "order"])
    func missingKeyIsTold(_ key: String) {
        #expect(read([], without: key).problems == ["streams.chirp.catchUp: the key \"\(key)\" is missing"])
    }

    @Test func valueThatIsNoObjectIsTold() {
        let problems = Problems()
        let json: JSON = ["url": "wss://s.example.test/ws", "catchUp": "/events"]
        _ = StreamConfiguration.read(name: "chirp", node: json.node("streams.chirp"), problems: problems)
        #expect(problems.all.map(\.message) == ["expected an object, found a string"])
    }

    @Test func formatWithoutIdCannotCatchUp() {
        let told =
            "streams.chirp.catchUp: goes by the ids of events, and the \"format\" of the stream maps none; add its \"id\""
        #expect(read([], stream: [("format", ["kind": "/k"])]).problems == [told])
        #expect(read([], stream: [("format", ["kind": "/k", "id": "/i"])]).problems == [])
        #expect(read([], stream: [("format", "chirp")]).problems == [])
    }

    @Test func newestWithoutNextIsWarnedOf() {
        let (catchUp, problems) = read([("order", "newest")], without: "next")
        #expect(catchUp != nil)
        #expect(
            problems == [
                "streams.chirp.catchUp: without \"next\" only one page is fetched; what it does not reach back to is lost"
            ])
    }

    @Test(arguments: [
        ("wss://s.example.test/ws", "/e?{cursor}", "https://s.example.test"),
        ("wss://s.example.test:8443/ws", "/e?{cursor}", "https://s.example.test:8443"),
        ("ws://127.0.0.1:9001/ws", "/e?{cursor}", "http://127.0.0.1:9001"),
        ("ws://[::1]:9001/ws", "/e?{cursor}", "http://[::1]:9001"),
        ("wss://s.example.test/ws", "https://api.example.test/e?{cursor}", "https://api.example.test"),
        ("wss://s.example.test/ws", "http://localhost:7?{cursor}", "http://localhost:7"),
    ])
    func originIsThatOfTheStreamOrWritten(_ stream: String, _ url: String, _ origin: String) {
        let (catchUp, problems) = read([("url", .string(url))], url: .string(stream))
        #expect(problems == [])
        #expect(catchUp?.url.description == origin)
    }

    @Test func insecureAllowsClearText() {
        let url: JSON = "http://s.example.test/{cursor}"
        #expect(read([("url", url)], stream: [("insecure", true)]).problems == [])
    }
}
