import RelayCore
import Testing

struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private let now = Instant(milliseconds: 784_111_777_000)

    @Test(arguments: [
        ("0", 0), ("30", 30_000), (" 120\t", 120_000), ("0.75", 750), ("1.0001", 1001), ("1.5", 1500), ("007", 7000),
        ("3600", 3_600_000), ("3601", 3_600_000), ("99999999999999999999999999", 3_600_000),
        ("9223372036854775807.999", 3_600_000),
        ("Sun, 06 Nov 1994 08:50:07 GMT", 30_000), ("Sunday, 06-Nov-94 08:50:07 GMT", 30_000),
        ("Sun Nov  6 08:50:07 1994", 30_000), ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:49:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:60 GMT", 3_600_000), ("Mon, 01 Jan 0001 00:00:00 GMT", 0),
        ("Sunday, 06-Nov-44 08:49:37 GMT", 3_600_000), ("Sunday, 06-Nov-45 08:49:37 GMT", 0),
    ])
    func hintIsRead(text: String, milliseconds: Int) {
        #expect(RetryAfter.parse(text, at: now) == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "", " ", "-1", "-0", "+5", "5.", ".5", "1e3", "0x10", "5s", "5, 10", "5 10", "NaN", "inf", "soon", "\u{0}", "\u{661}",
        "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 +0100",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1995 08:49:37 GMT",
        "Sun, +6 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun,, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov -994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT and more", String(repeating: "9", count: 5000),
    ])
    func nonsenseIsNoHint(text: String) {
        #expect(RetryAfter.parse(text, at: now) == nil)
    }

    @Test func anyTextAndAnyTimeGiveAnAnswer() {
        let pieces = ["Sun", ",", " ", "06", "-", "Nov", "1994", "94", "08:49:37", "GMT", ".", "9", "\u{e9}", "\u{0}", "+"]
        for seed in UInt64(1)...3000 {
            var state = seed
            var text = ""
            for _ in 0..<(seed % 14) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text += pieces[Int(state >> 33) % pieces.count]
            }
            for now in [Instant(milliseconds: .min), now, Instant(milliseconds: .max)] {
                guard let duration = RetryAfter.parse(text, at: now) else { continue }
                #expect(.zero <= duration && duration <= .seconds(3600), "seed \(seed)")
            }
        }
    }

    @Test func callerMaySetTheLimit() {
        #expect(RetryAfter.parse("500", at: now, atMost: .seconds(60)) == .seconds(60))
    }
}
