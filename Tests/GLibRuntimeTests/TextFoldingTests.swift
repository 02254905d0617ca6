import GLibRuntime
import Testing

struct TextFoldingTests {
    @Test(arguments: [
        ("Ann_B0", "ann_b0"), ("É", "e\u{301}"), ("E\u{301}", "é"), ("STRASSE", "straße"), ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("İ", "i\u{307}"), ("\u{1E9E}", "ss"), ("Å", "\u{212B}"), ("\u{3AC}", "\u{1F71}"), ("", ""), ("ᾳ", "αι"),
    ])
    func equalNamesFoldToTheSameBytes(left: String, right: String) {
        #expect(Array(TextFolding.fold(left).utf8) == Array(TextFolding.fold(right).utf8))
    }

    @Test(arguments: [("ann", "anne"), ("e", "é"), ("a\u{0}B", "a"), ("é\u{0}x", "é")])
    func differentNamesStayDifferent(left: String, right: String) {
        #expect(TextFolding.fold(left) != TextFolding.fold(right))
    }

    @Test func foldingTwiceChangesNothing() {
        for seed in 0..<500 as Range<UInt64> {
            var state = seed &+ 12_345
            var scalars = String.UnicodeScalarView()
            for _ in 0..<8 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                // Letters with marks, Greek, Cyrillic, Armenian.
                if let scalar = Unicode.Scalar(UInt32(state >> 33) % 0x580) { scalars.append(scalar) }
            }
            let once = TextFolding.fold(Array(String(scalars).utf8))
            #expect(TextFolding.fold(once) == once, "seed \(seed)")
        }
    }

    /// Letters up to U+00FF are folded here; one more letter makes GLib fold the whole text.
    @Test func latinLettersFoldAsGLibFoldsThem() {
        for value in 0x20...0xFF as ClosedRange<UInt32> where !(0x80..<0xC0).contains(value) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            for text in [String(scalar), "Ab\(scalar)", "\(scalar)É_"] {
                #expect(TextFolding.fold(text) + "\u{11F}" == TextFolding.fold(text + "\u{11F}"), "U+\(value)")
            }
        }
        for bytes in [[0xC3], [0x41, 0xC3], [0xC3, 0x41], [0xC3, 0xC3, 0x80]] as [[UInt8]] {
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(TextFolding.fold(bytes) == Array(TextFolding.fold(text).utf8))
        }
        #expect(TextFolding.fold("E\u{301}") == "é")
    }

    @Test func bytesSpansAndStringsFoldAlike() {
        let bytes = Array("ÄÖÜ Xy".utf8)
        #expect(TextFolding.fold(bytes.span.bytes) == TextFolding.fold(bytes))
        #expect(TextFolding.fold("ÄÖÜ Xy") == "äöü xy")
    }

    @Test func invalidBytesAreReplaced() {
        #expect(TextFolding.fold([0x41, 0xFF]) == Array("a\u{FFFD}".utf8))
    }

    /// GLib alone takes a minute for each megabyte.
    @Test(.timeLimit(.minutes(1)))
    func aNameOfAMegabyteIsFoldedInNoTime() async {
        for part in ["\u{e9}", "E\u{301}", "\u{301}\u{323}", "\u{1112}\u{1161}\u{11ab}", "\u{1F600}"] {
            let count = 1_000_000 / part.utf8.count
            #expect(TextFolding.fold(Array(String(repeating: part, count: count).utf8)).count > count)
            await Task.yield()
        }
    }

    /// However the pieces fall, a long name in another case and composition is the same name.
    @Test func longNamesInAnyCaseAndCompositionAreEqual() async {
        for length in 0..<100 {
            let start = String(repeating: "x", count: length)
            let composed = start + String(repeating: "\u{e9}\u{d55c}\u{1ea5}", count: 60)
            let other = start + String(repeating: "E\u{301}\u{1112}\u{1161}\u{11ab}A\u{302}\u{301}", count: 60)
            #expect(TextFolding.fold(composed) == TextFolding.fold(other), "length \(length)")
            await Task.yield()
        }
    }
}
