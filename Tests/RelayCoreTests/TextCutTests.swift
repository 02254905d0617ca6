import RelayCore
import Testing

struct TextCutTests {
    @Test(arguments: [
        ("short", 10, "short"), ("exactly10!", 10, "exactly10!"), ("eleven char", 10, "eleven ch…"), ("", 5, ""),
        ("ab", 1, "…"), ("ab", 0, ""), ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 2, "👨‍👩‍👧‍👦…"), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
    ])
    func cutsOnGraphemeBorders(_ text: String, _ max: Int, _ expected: String) {
        let cut = TextCut.graphemes(text, max: max)
        #expect(cut == expected)
        #expect(cut.count <= max)
    }

    @Test(arguments: [
        ("a\nb\nc", 2, "a\nb…"), ("a\nb\n", 2, "a\nb"), ("a\r\nb\r\nc", 3, "a\r\nb\r\nc"), ("\n\n\n", 1, "…"),
    ])
    func cutsLines(_ text: String, _ lines: Int, _ expected: String) {
        #expect(TextCut.graphemes(text, max: 100, lines: lines) == expected)
    }

    @Test func keepsFourMarksOnEachBase() {
        let stacked = "a" + String(repeating: "\u{301}", count: 2000) + "b"
        #expect(TextCut.graphemes(stacked, max: 10, marks: 4) == "a\u{301}\u{301}\u{301}\u{301}b")
    }

    @Test func chainOfJoinersIsBounded() {
        let chain = String(repeating: "👩\u{200d}", count: 100_000)
        #expect(TextCut.graphemes(chain, max: 400).utf8.count < 400 * 32 * 4)
    }

    @Test func familyAndFlagStayWhole() {
        let flag = "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}"
        #expect(TextCut.graphemes("👨‍👩‍👧‍👦" + flag, max: 10, marks: 4) == "👨‍👩‍👧‍👦" + flag)
    }

    @Test func megabyteOfEmojiIsCutQuickly() {
        let text = String(repeating: "😀", count: 262_144)
        let start = ContinuousClock.now
        #expect(TextCut.graphemes(text, max: 400).count == 400)
        #expect(ContinuousClock.now - start < .seconds(1))
    }
}
