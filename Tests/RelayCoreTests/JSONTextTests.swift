import FoundationEssentials
import RelayCore
import RelayTestKit
import Testing

struct JSONTextTests {
    private func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        JSONText.append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("a\"b\\c", #"a\"b\\c"#), ("\u{0}\n\u{1f}", #"\u0000\u000a\u001f"#),
        ("\u{7f}", #"\u007f"#), ("\u{80}\u{9f}\u{a0}", "\\u0080\\u009f\u{a0}"),
        ("a\u{2028}b\u{2029}", #"a\u2028b\u2029"#),
        ("\u{202a}\u{202e}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}", #"\u202a\u202e\u2066\u2069\u200e\u200f\u061c"#),
        ("\u{feff}x", #"\ufeffx"#), ("größe 😀 日本", "größe 😀 日本"),
        ("\u{200d}\u{2027}\u{2065}\u{206a}", "\u{200d}\u{2027}\u{2065}\u{206a}"),
        ("</script>", "</script>"),
    ])
    func escapesWhatMustNotBeShown(_ text: String, _ expected: String) {
        #expect(escaped(text) == expected)
    }

    @Test func everyASCIIByteAtEveryPlaceInAWord() {
        for byte in UInt8(0)..<0x80 {
            for place in 0..<19 {
                var text = [UInt8](repeating: UInt8(ascii: "x"), count: 19)
                text[place] = byte
                var bytes: [UInt8] = []
                JSONText.append(text, to: &bytes)
                let isPlain = byte >= 0x20 && byte != 0x7f && byte != 0x22 && byte != 0x5c
                #expect((bytes == text) == isPlain, "byte \(byte) at \(place)")
                #expect(bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7f })
            }
        }
    }

    @Test(arguments: 1...20)
    func randomTextComesBack(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var text = ""
            for _ in 0..<Int.random(in: 0...40, using: &generator) {
                let range: ClosedRange<UInt32> =
                    [0...0x7f, 0x80...0x7ff, 0x1f00...0x30ff, 0xfe00...0x1_ffff]
                    .randomElement(using: &generator) ?? 0...0x7f
                if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)) {
                    text.unicodeScalars.append(scalar)
                }
            }
            let json = Array("\"\(escaped(text))\"".utf8)
            let back = try JSONDecoder().decode(String.self, from: Data(json))
            #expect(Array(back.unicodeScalars) == Array(text.unicodeScalars), "seed \(seed)")
            #expect(!json.contains { $0 < 0x20 || $0 == 0x7f })
        }
    }

    @Test func appendingKeepsWhatWasThere() {
        var bytes = Array("head".utf8)
        JSONText.append(Array("a\u{1}".utf8), to: &bytes)
        JSONText.append("b", to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == #"heada\u0001b"#)
    }

    @Test func truncatedScalarAtTheEndIsNotReadPastTheEnd() {
        for text in [[0xe2, 0x80], [0xc2], [0xf0, 0x9f]] as [[UInt8]] {
            var bytes: [UInt8] = []
            JSONText.append(text, to: &bytes)
            #expect(!bytes.isEmpty)
        }
    }
}

/// A small generator with a seed (SplitMix64).
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
