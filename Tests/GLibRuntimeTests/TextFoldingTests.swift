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
}
