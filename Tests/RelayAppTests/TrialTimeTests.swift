import GLibRuntime
import RelayCore
import Testing

@testable import RelayApp

/// Times are read and shown in a zone, over the changes of its clocks too.
struct TrialTimeTests {
    private let berlin: ZonedTime

    init() throws {
        berlin = ZonedTime(try #require(Zone(named: "Europe/Berlin")))
    }

    @Test(arguments: [
        ("2026-03-29T01:30:00Z", "2026-03-29 03:30:00+02:00"),
        ("2026-03-29T01:30:00.250+01:00", "2026-03-29 01:30:00.250+01:00"),
        ("2026-03-29 01:30", "2026-03-29 01:30:00+01:00"),
        ("2026-03-29t01:30:15", "2026-03-29 01:30:15+01:00"),
        ("2026-07-01", "2026-07-01 00:00:00+02:00"),
        // A time that does not exist moves forward by the gap, of two the first is meant.
        ("2026-03-29T02:30", "2026-03-29 03:30:00+02:00"),
        ("2026-10-25T02:30", "2026-10-25 02:30:00+02:00"),
        ("1969-12-31T23:59:59.500Z", "1970-01-01 00:59:59.500+01:00"),
    ]) func aTimeIsReadAndShown(text: String, shown: String) throws {
        #expect(berlin.text(try #require(berlin.instant(text))) == shown)
    }

    @Test(arguments: ["", "today", "2026-02-30", "2026-03-29T24:30", "02:30", "2026-03-29T02", "2026-03-29T02:30:00+1"])
    func whatIsNoTimeIsNotRead(text: String) {
        #expect(berlin.instant(text) == nil)
    }

    /// At 22:30 of the evening before the clocks change.
    @Test(arguments: [
        ("23:00", "2026-03-28T22:00:00Z"), ("22:30", "2026-03-29T20:30:00Z"), ("02:30", "2026-03-29T01:30:00Z"),
        ("tomorrow", "2026-03-28T23:00:00Z"), ("2026-03-29T01:30", "2026-03-29T00:30:00Z"),
    ]) func aComingTimeIsRead(text: String, expected: String) throws {
        let now = try #require(berlin.instant("2026-03-28T22:30"))
        #expect(berlin.coming(text, after: now).map(TimestampText.format) == expected)
    }

    @Test(arguments: ["", "later", "24:30", "7:30", "ab:cd", "2026-03-29T02:30:00Z "])
    func whatIsNoComingTimeIsNotRead(text: String) {
        #expect(berlin.coming(text, after: Instant(milliseconds: 0)) == nil)
    }

    @Test func aZoneBehindUTCHasAMinus() throws {
        let zone = ZonedTime(try #require(Zone(named: "America/St_Johns")))
        #expect(zone.text(Instant(milliseconds: 0)) == "1969-12-31 20:30:00-03:30")
    }

    @Test(arguments: [Int64.min, .max]) func noInstantIsTooFar(milliseconds: Int64) {
        #expect(berlin.text(Instant(milliseconds: milliseconds)).utf8.count == 25)
    }

    // MARK: Progress

    @Test func aShortTryShowsNoProgress() {
        var progress = Progress(at: Instant(milliseconds: 0))
        #expect(progress.line(events: 1, at: Instant(milliseconds: 999)) == nil)
        let isUp = progress.takeDown()
        #expect(!isUp)
    }

    @Test func aLongTryShowsHowFarItIsAFewTimesASecond() {
        var progress = Progress(at: Instant(milliseconds: 0))
        #expect(progress.line(events: 7000, at: Instant(milliseconds: 1500)) == "\r\u{1b}[K7000 events in 1 s")
        #expect(progress.line(events: 8000, at: Instant(milliseconds: 1600)) == nil)
        #expect(progress.line(events: 9000, at: Instant(milliseconds: 1700)) != nil)
        let isUp = progress.takeDown()
        #expect(isUp)
    }
}
