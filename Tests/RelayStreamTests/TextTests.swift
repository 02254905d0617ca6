import RelayCore
import Testing

@testable import RelayStream

/// What the stream reads of and writes about a server's words.
struct TextTests {
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

    @Test(arguments: [
        #"{"error": "bad token tok/SECRET+1234"}"#, #"{"error": "bad token tok\/SECRET+1234"}"#,
        String(repeating: "x", count: 190) + " tok/SECRET+1234",
        String(repeating: "é", count: 395) + " tok/SECRET+1234",
    ])
    func excerptShowsNoSecret(_ message: String) {
        let shown = Array(message.utf8).withUnsafeBytes { Excerpt.of($0, hiding: [Secret("tok/SECRET+1234")]) }
        #expect(!shown.contains("tok/") && !shown.contains("SEC"))
        #expect(shown.hasPrefix("{\"error\": \"bad token <redacted>") || shown.hasSuffix("…"))
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
