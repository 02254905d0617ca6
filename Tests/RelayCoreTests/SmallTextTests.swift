import Testing

@testable import RelayCore

struct DurationTextTests {
    @Test(arguments: [
        ("90s", 90_000), ("15m", 900_000), ("1h30m", 5_400_000), ("2d", 172_800_000), ("250ms", 250), ("1m5ms", 60_005),
        ("1d2h3m4s5ms", 93_784_005), ("0s", 0), ("007s", 7000),
    ])
    func formsAreRead(_ text: String, _ milliseconds: Int) {
        #expect(DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "", "90", "s", "1.5h", "-1s", "+1s", "1 s", "1S", "30m1h", "1h1h", "1w", "1hs", "s1", "99999999999999999999s",
        "9223372036854775807d", "9223372036854775807ms1s", "1h30", "١s",
    ])
    func otherTextsAreNone(_ text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test func formatIsReadBack() {
        for seed in 0..<500 as Range<UInt64> {
            var random = SplitMix(seed)
            let duration = Duration.milliseconds(
                Int64.random(in: 0...Int64.max >> Int64.random(in: 1...62, using: &random), using: &random))
            #expect(DurationText.parse(DurationText.format(duration)) == duration, "seed \(seed)")
        }
        #expect(DurationText.format(.milliseconds(5_400_000)) == "1h30m")
        #expect(DurationText.format(.zero) == "0s")
        #expect(DurationText.format(.milliseconds(-1500)) == "1s500ms")
    }
}

struct NearestNameTests {
    @Test(arguments: [
        ("limt", "limit"), ("likes", "like"), ("desktpo", "desktop"), ("LIMIT", "limit"), ("commet", "comment"),
        ("x", nil), ("", nil), ("banana", nil), ("to", "to"), ("ot", "to"),
    ])
    func nearestIsWhatAPersonMeant(_ name: String, _ expected: String?) {
        #expect(NearestName.nearest(to: name, among: ["like", "limit", "desktop", "comment", "to"]) == expected)
    }

    @Test func hugeNamesAreCheap() {
        let long = String(repeating: "ab", count: 1_000_000)
        #expect(NearestName.nearest(to: long, among: ["like", long]) == long)
    }
}

struct InstantTests {
    @Test func sumsAndDifferencesAreClamped() {
        let last = Instant(milliseconds: .max)
        let first = Instant(milliseconds: .min)
        #expect(last + .seconds(1) == last)
        #expect(first + .seconds(-1) == first)
        #expect(last - first == .milliseconds(Int64.max))
        #expect(first - last == .milliseconds(Int64.min))
        #expect(Instant(milliseconds: 5) + .seconds(2) == Instant(milliseconds: 2005))
        #expect(Instant(milliseconds: 5) - Instant(milliseconds: 2005) == .seconds(-2))
    }

    @Test func wholeMillisecondsAreRoundedUp() {
        #expect(Duration.nanoseconds(1).wholeMilliseconds == 1)
        #expect(Duration.milliseconds(3).wholeMilliseconds == 3)
        #expect(Duration.nanoseconds(-1_500_000).wholeMilliseconds == -1)
        #expect(Duration.seconds(Int64.max).wholeMilliseconds == .max)
        #expect(Duration.seconds(Int64.min).wholeMilliseconds == .min)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1_893_553_445_000, "2030-01-02T03:04:05Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"), (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (Int64.max, "9999-12-31T23:59:59.999Z"),
            (Int64.min, "0000-01-01T00:00:00Z"), (1_709_164_800_007, "2024-02-29T00:00:00.007Z"),
        ] as [(Int64, String)])
    func instantIsShownInUTC(_ milliseconds: Int64, _ text: String) {
        #expect(TimestampText.format(Instant(milliseconds: milliseconds)) == text)
    }
}

struct BackoffTests {
    @Test func delayIsTotalAndWithinItsShare() {
        let policy = Backoff(base: .seconds(1), cap: .seconds(900), floor: 0.5)
        for failures in [Int.min, -1, 0, 1, 5, 10, 62, 63, 64, 10_000, Int.max] {
            var random = SplitMix(UInt64(bitPattern: Int64(failures)))
            let exponent = min(max(failures, 0), 20)
            let longest = min(900_000, 1000 << exponent)
            for _ in 0..<50 {
                let delay = policy.delay(afterFailures: failures, using: &random).wholeMilliseconds
                #expect((Int64(longest / 2)...Int64(longest)).contains(delay), "\(failures) failures")
            }
        }
    }

    @Test func fullJitterReachesBothEnds() {
        let policy = Backoff(base: .seconds(1), cap: .seconds(900), floor: 0)
        var random = SplitMix(1)
        let delays = (0..<1000).map { _ in policy.delay(afterFailures: 0, using: &random).wholeMilliseconds }
        #expect(delays.contains { $0 < 50 })
        #expect(delays.contains { $0 > 950 })
    }

    @Test func hugeDurationsDoNotOverflow() {
        var random = SplitMix(1)
        let policy = Backoff(base: .seconds(Int64.max), cap: .seconds(Int64.max), floor: 1)
        #expect(policy.delay(afterFailures: Int.max, using: &random) > .seconds(1))
        let none = Backoff(base: .seconds(-1), cap: .seconds(-1), floor: 0)
        #expect(none.delay(afterFailures: 3, using: &random) == .zero)
    }
}
