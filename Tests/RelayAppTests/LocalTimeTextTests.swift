import GLibRuntime
import RelayCore
import Testing

@testable import RelayApp

/// Times on the command line.
struct LocalTimeTextTests {
    /// 2026-03-28T22:30:00+01:00, the evening before the clocks of Berlin change.
    private let now = "2026-03-28T21:30:00Z"

    @Test(arguments: [
        ("2026-03-29T02:30:00Z", "2026-03-29T02:30:00Z"), ("2026-03-29T02:30:00+05:30", "2026-03-28T21:00:00Z"),
        ("2026-03-29T01:30", "2026-03-29T00:30:00Z"),
        // The hour that there is not moves forward by the gap.
        ("2026-03-29T02:30", "2026-03-29T01:30:00Z"), ("2026-03-29T03:30", "2026-03-29T01:30:00Z"),
        // Of the hour that comes twice the first one is meant.
        ("2026-10-25T02:30", "2026-10-25T00:30:00Z"), ("2026-10-25T02:30:15", "2026-10-25T00:30:15Z"),
        ("2026-10-25 03:30", "2026-10-25T02:30:00Z"), ("23:00", "2026-03-28T22:00:00Z"),
        ("22:30", "2026-03-29T20:30:00Z"), ("02:30", "2026-03-29T01:30:00Z"), ("tomorrow", "2026-03-28T23:00:00Z"),
    ]) func aTimeIsRead(text: String, expected: String) throws {
        let zone = try #require(Zone(named: "Europe/Berlin"))
        let parsed = TimestampText.parse(now.utf8Span.span.bytes)
        let now = try #require(parsed)
        #expect(LocalTimeText.parse(text, now: now, zone: zone).map(TimestampText.format) == expected)
    }

    @Test(arguments: ["", "later", "2026-02-30T10:00", "24:30", "7:30", "2026-03-29", "2026-03-29T02:30:00Z ", "ab:cd"])
    func whatIsNoTimeIsNone(text: String) {
        #expect(LocalTimeText.parse(text, now: Instant(milliseconds: 0), zone: Zone()) == nil)
    }
}
