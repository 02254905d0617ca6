import Testing

@testable import RelayCore

struct TextCleaningTests {
    @Test(arguments: [
        ("", ""), ("ann", "ann"), ("a plain longer line of text ~", "a plain longer line of text ~"),
        ("a\u{0}b\u{1B}[2J\u{7F}c\u{9B}31m", "ab[2Jc31m"), ("line\r\nfake line", "line fake line"),
        ("a\n\n\nb\u{2028}c\u{2029}d\u{85}e\u{B}f", "a b c d e f"), ("tab\there", "tab here"), ("\n\nann\n", "ann"),
        ("\u{FEFF}al\u{200B}ice\u{2060}\u{AD}", "alice"), ("\u{202E}evil\u{2066}x\u{2069}\u{200F}\u{61C}", "evilx"),
        ("👩\u{200D}👩\u{200D}👧", "👩\u{200D}👩\u{200D}👧"), ("❤\u{FE0F}\u{200D}🔥", "❤\u{FE0F}\u{200D}🔥"),
        ("a\u{200D}b", "ab"), ("1\u{200D}2", "12"), ("می\u{200C}خواهم", "می\u{200C}خواهم"), ("क\u{94D}\u{200D}ष", "क\u{94D}\u{200D}ष"),
        ("\u{3164}\u{115F}", ""), ("a\u{E0041}\u{E007F}", "a"), ("x\u{FFFE}\u{FFF9}y", "xy"),
        ("👍🏽 né ü", "👍🏽 né ü"), ("🇩🇪", "🇩🇪"), ("\u{600}1", "\u{600}1"), ("<b>&amp;@everyone", "<b>&amp;@everyone"),
    ])
    func lineIsCleaned(_ text: String, _ expected: String) {
        #expect(Array(TextCleaning.clean(text).unicodeScalars) == Array(expected.unicodeScalars))
    }

    @Test func marksAreStackedFourHigh() {
        let tall = "a" + String(repeating: "\u{301}", count: 2000) + "b\u{302}"
        #expect(TextCleaning.clean(tall).unicodeScalars.count == 7)
        let selectors = "x" + String(repeating: "\u{FE0F}", count: 100)
        #expect(TextCleaning.clean(selectors).unicodeScalars.count == 5)
        let hidden = "a" + String(repeating: "\u{301}\u{200B}", count: 100)
        #expect(TextCleaning.clean(hidden).unicodeScalars.count == 5)
    }

    @Test(arguments: [
        ("a\nb", "a\nb"), ("a\r\nb\rc", "a\nb\nc"), ("a\n\n\n\nb", "a\n\nb"), ("\n\na\n\n", "a"),
        ("1\n2\n3\n4\n5\n6\n7\n8", "1\n2\n3\n4\n5\n6 7 8"), ("a\u{2029}b\tc", "a\nb c"),
    ])
    func blockKeepsAFewLines(_ text: String, _ expected: String) {
        #expect(TextCleaning.clean(text, as: .block) == expected)
    }

    @Test func fastPathTakesExactlyPrintableASCII() {
        for byte in 0...255 as ClosedRange<UInt8> {
            for count in [1, 7, 8, 9, 15, 16, 17, 31] {
                for place in [0, count / 2, count - 1] {
                    var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: count)
                    bytes[place] = byte
                    let expected = (0x20..<0x7F).contains(byte)
                    #expect(TextCleaning.isPrintableASCII(bytes.span.bytes) == expected, "\(byte) at \(place) of \(count)")
                }
            }
        }
    }

    @Test func cleanedTextIsCleanAndStaysSo() {
        let scalars: [Unicode.Scalar] = [
            "a", " ", "\n", "\r", "\t", "\u{0}", "\u{1B}", "\u{7F}", "\u{85}", "\u{9B}", "\u{301}", "\u{200B}",
            "\u{200C}", "\u{200D}", "\u{202E}", "\u{2028}", "\u{FEFF}", "\u{FE0F}", "👩", "م", "é", "\u{E0041}", "\u{600}",
        ]
        for seed in 0..<3000 as Range<UInt64> {
            var random = SplitMix(seed)
            var text = ""
            for _ in 0..<Int.random(in: 0...20, using: &random) {
                text.unicodeScalars.append(scalars.randomElement(using: &random) ?? "a")
            }
            for layout in [TextCleaning.Layout.line, .block] {
                let clean = TextCleaning.clean(text, as: layout)
                let isFree = clean.unicodeScalars.allSatisfy { scalar in
                    scalar == "\n" && layout == .block || scalar.properties.generalCategory != .control
                        && !["\u{202E}", "\u{FEFF}", "\u{200B}", "\u{2028}"].contains(scalar)
                }
                #expect(isFree, "seed \(seed)")
                #expect(clean.count(where: { $0 == "\n" }) < TextCleaning.mostLines, "seed \(seed)")
                #expect(TextCleaning.clean(clean, as: layout) == clean, "seed \(seed)")
            }
        }
    }

    @Test func illFormedBytesBecomeReplacements() {
        var bytes: [UInt8] = []
        TextCleaning.append([0x61, 0xFF, 0x62].span.bytes, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "a\u{FFFD}b")
    }
}
