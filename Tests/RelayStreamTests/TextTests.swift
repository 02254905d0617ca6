import RelayCore
import Testing

@testable import RelayStream

/// What the stream reads of and writes about a server's words.
struct TextTests {
    private let wall = Instant(milliseconds: 784_111_777_000)

    @Test(arguments: [
        ("50", 50), ("0", 0), (" 7 ", 7), ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ("Sat, 05 Nov 1994 08:49:37 GMT", 0), ("Tue, 29 Feb 2028 00:00:00 GMT", 1_051_247_423),
    ])
    func retryAfterIsSecondsOrDate(_ text: String, _ seconds: Int) {
        #expect(RetryAfter.parse(text, wallNow: wall) == .seconds(seconds))
    }

    @Test(arguments: [
        "", "soon", "-5", "1.5", "+3", "Sun, 06 Nov 1994", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, +6 Nov 1994 08:49:37 GMT",
    ])
    func malformedRetryAfterCountsAsAbsent(_ text: String) {
        #expect(RetryAfter.parse(text, wallNow: wall) == nil)
    }

    @Test func hugeRetryAfterDoesNotOverflow() throws {
        let wait = try #require(RetryAfter.parse("99999999999999999999999999", wallNow: wall))
        #expect(wait > .seconds(3600))
    }

    @Test func serverTextIsOneShortPrintableLine() {
        let text = ServerText.clean("a\u{1b}[31m\r\nb\u{202e}c\u{0}" + String(repeating: "x", count: 500))
        #expect(text.hasPrefix("a [31m  b c x"))
        #expect(text.count == 200)
    }

    @Test func echoedTokenIsHiddenAlsoWhenItIsCut() {
        let token = Secret("tok-SECRET-123456")
        #expect(ServerText.clean("bad token tok-SECRET-123456!", hiding: [token]) == "bad token <redacted>!")
        #expect(ServerText.clean("bad token tok-SECR", hiding: [token]) == "bad token <redacted>")
        #expect(ServerText.clean("to be or not", hiding: [token]) == "to be or not")
    }

    @Test func repeatsAreToldOnceInAWhile() {
        var filter = RepeatFilter(every: .seconds(600))
        let start = Instant(milliseconds: 0)
        #expect(filter.verdict(on: "refused", at: start) == .tell(repeats: 0))
        for second in 1..<600 { #expect(filter.verdict(on: "refused", at: start + .seconds(second)) == .hush) }
        #expect(filter.verdict(on: "refused", at: start + .seconds(600)) == .tell(repeats: 599))
        #expect(filter.verdict(on: "reset", at: start + .seconds(601)) == .tell(repeats: 0))
        #expect(filter.verdict(on: "refused", at: start + .seconds(602)) == .tell(repeats: 0))
        filter.forget()
        #expect(filter.verdict(on: "refused", at: start + .seconds(603)) == .tell(repeats: 0))
    }
}
