import RelayCore
import RelayTestKit
import Testing

struct TimestampTextTests {
    private static func parse(_ text: String) -> Int64? {
        TimestampText.parse(Array(text.utf8).span.bytes)?.milliseconds
    }

    @Test(arguments: [
        ("2030-01-02T03:04:05Z", 1_893_553_445_000), ("2030-01-02T03:04:05.1Z", 1_893_553_445_100),
        ("2030-01-02T03:04:05.12Z", 1_893_553_445_120), ("2030-01-02T03:04:05.123Z", 1_893_553_445_123),
        ("2030-01-02T03:04:05.123456789Z", 1_893_553_445_123),
        ("2030-01-02T03:04:05.00099999999999Z", 1_893_553_445_000),
        ("2030-01-02T03:04:05+01:00", 1_893_549_845_000), ("2030-01-02T03:04:05.5-0330", 1_893_566_045_500),
        ("2030-01-02t03:04:05z", 1_893_553_445_000), ("2030-01-02 03:04:05Z", 1_893_553_445_000),
        ("2030-01-02 03:04:05+0000", 1_893_553_445_000), ("2030-01-02T24:00:00Z", 1_893_628_800_000),
        ("2028-02-29T00:00:60Z", 1_835_395_260_000), ("9999-12-31T23:59:59Z", 253_402_300_799_000),
        ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59.5Z", -500), ("2000-02-29T12:00:00-00:00", 951_825_600_000),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000), ("2016-12-31T23:59:60Z", 1_483_228_800_000),
    ])
    func formIsRead(text: String, milliseconds: Int64) {
        #expect(Self.parse(text) == milliseconds)
    }

    @Test(arguments: [
        "", "2030", "2030-01-02", "2030-01-02T03:04:05", "2030-01-02T03:04:05.Z", "2030-01-02T03:04:05.5",
        "2030-13-02T03:04:05Z", "2030-00-02T03:04:05Z", "2030-02-29T03:04:05Z", "2100-02-29T03:04:05Z",
        "2030-04-31T03:04:05Z", "2030-01-00T03:04:05Z", "2030-01-02T25:00:00Z", "2030-01-02T24:00:01Z",
        "2030-01-02T24:00:00.5Z", "2030-01-02T03:60:05Z", "2030-01-02T03:04:61Z", "2030-01-02T03:04:05+24:00",
        "2030-01-02T03:04:05+01:60", "2030-01-02T03:04:05+1:00", "2030-01-02T03:04:05+01", "2030-01-02T03:04:05Zx",
        "2030-01-02T03:04:05 Z", "2030/01/02T03:04:05Z", "2030-01-02\u{0}03:04:05Z", "+030-01-02T03:04:05Z",
        "2030-01-02T03.04:05Z", "2O30-01-02T03:04:05Z", "２０３０-01-02T03:04:05Z", "2030-01-02T03:04:05+01:0",
    ])
    func otherTextIsRefused(text: String) {
        #expect(Self.parse(text) == nil)
    }

    @Test(arguments: [
        (1_893_553_445_000, "2030-01-02T03:04:05Z"), (1_893_553_445_123, "2030-01-02T03:04:05.123Z"),
        (1_893_553_445_007, "2030-01-02T03:04:05.007Z"), (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (Int64.max, "9999-12-31T23:59:59.999Z"), (Int64.min, "0000-01-01T00:00:00Z"),
        (951_782_400_000, "2000-02-29T00:00:00Z"),
    ])
    func instantIsWritten(milliseconds: Int64, text: String) {
        #expect(TimestampText.format(Instant(milliseconds: milliseconds)) == text)
    }

    @Test func everyDayOfFourCenturiesComesBack() {
        var bytes: [UInt8] = []
        var wrong: [Int64] = []
        for day in Int64(-1000)..<146_097 {
            let instant = Instant(milliseconds: day * 86_400_000 + day % 1000 + 1000)
            bytes.removeAll(keepingCapacity: true)
            TimestampText.append(instant, to: &bytes)
            if TimestampText.parse(bytes.span.bytes) != instant { wrong.append(day) }
        }
        #expect(wrong.isEmpty)
    }

    /// The reader knows the day of the text before.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func readerReadsWhatIsReadWithoutIt(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var reader = TimestampReader()
        // What it remembers at first is no day.
        #expect(reader.parse(([UInt8](repeating: 0, count: 10) + Array("T00:00:00Z".utf8)).span.bytes) == nil)
        let days = ["2030-01-02", "2030-01-03", "2031-01-02", "2030-02-29", "2O30-01-02", "2030-01-0:"]
        let times = [
            "T03:04:05Z", "T23:59:60.123Z", "T24:00:00Z", " 03:04:05Z", "T03:04:05+01:00", "T25:00:00Z", "T", "",
        ]
        for _ in 0..<1000 {
            let day = days.randomElement(using: &generator) ?? ""
            let text = Array((day + (times.randomElement(using: &generator) ?? "")).utf8)
            #expect(
                reader.parse(text.span.bytes) == TimestampText.parse(text.span.bytes),
                "seed \(seed), \(String(decoding: text, as: UTF8.self))")
        }
    }

    /// The usual form is read another way than the same with an offset of nothing.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func usualFormIsReadLikeAnyOther(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("0123456789-:.TtZz +/;\u{FF}".utf8)
        for form in ["2030-01-02T03:04:05.123", "2030-01-02T03:04:05", "2024-02-29T23:59:60", "0000-12-31T00:00:00.9"] {
            for _ in 0..<2000 {
                var text = Array(form.utf8)
                for _ in 0..<Int.random(in: 0...2, using: &generator) {
                    text[Int.random(in: text.indices, using: &generator)] =
                        alphabet.randomElement(using: &generator) ?? 0
                }
                let usual = TimestampText.parse((text + Array("Z".utf8)).span.bytes)
                let other = TimestampText.parse((text + Array("+00:00".utf8)).span.bytes)
                #expect(usual == other, "seed \(seed), \(String(decoding: text, as: UTF8.self))")
            }
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func noTextCrashes(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("0123456789-:.TtZz +".utf8)
        for _ in 0..<2000 {
            var text = Array("2030-01-02T03:04:05.123+01:00".utf8)
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                text[Int.random(in: text.indices, using: &generator)] = alphabet.randomElement(using: &generator) ?? 0
            }
            text.removeLast(Int.random(in: 0..<text.count, using: &generator))
            guard let instant = TimestampText.parse(text.span.bytes) else { continue }
            // What is read must be written as the same instant.
            let written = Array(TimestampText.format(instant).utf8)
            #expect(
                TimestampText.parse(written.span.bytes) == instant,
                "seed \(seed), \(String(decoding: text, as: UTF8.self))")
        }
    }
}
