import RelayCore
import Testing

@testable import RelayStream

struct CatchUpURLTests {
    private func expanded(_ url: String, id: String, text: String? = nil) throws -> String {
        let cursor = StreamCursor(id: UntrustedText(id), createdAt: Instant(milliseconds: 1_893_553_445_123))
        return try CatchUpFixtures.url(url).expanded(cursor, text: text.map { Array($0.utf8) }).reveal()
    }

    @Test(arguments: [
        ("/e?after={cursor}", "a-1_2.~", "http://127.0.0.1:9/e?after=a-1_2.~"),
        ("/e?after={cursor}&x=1", "a&b=c#d/../é", "http://127.0.0.1:9/e?after=a%26b%3Dc%23d%2F..%2F%C3%A9&x=1"),
        ("/{cursor}/next", "a\r\nHost: evil", "http://127.0.0.1:9/a%0D%0AHost%3A%20evil/next"),
        ("/e?t={cursorTime}", "x", "http://127.0.0.1:9/e?t=2030-01-02T03%3A04%3A05.123Z"),
        ("/e?q={{a}}&c={cursor}{cursor}", "7", "http://127.0.0.1:9/e?q={a}&c=77"),
    ])
    func placeholdersAreEncoded(_ url: String, _ id: String, _ expected: String) throws {
        #expect(try expanded(url, id: id) == expected)
    }

    @Test func textOfTheServerTakesThePlaceOfTheId() throws {
        #expect(
            try expanded("/e?c={cursor}&t={cursorTime}", id: "x", text: "p 2").hasSuffix(
                "c=p%202&t=2030-01-02T03%3A04%3A05.123Z"))
    }

    @Test func itNeverShowsWhatIsBehindTheHost() throws {
        let url = try CatchUpFixtures.url("/e?key=PLANTED&c={cursor}")
        var dumped = ""
        dump(url, to: &dumped)
        #expect("\(url) \(String(reflecting: url)) \(dumped)".contains("PLANTED") == false)
        #expect("\(url)" == "http://127.0.0.1:9")
    }
}
