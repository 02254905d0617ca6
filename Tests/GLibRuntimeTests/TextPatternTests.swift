import GLibRuntime
import Testing

struct TextPatternTests {
    @Test(arguments: [
        ("a.c", "xxabcxx", TextPattern.Match.yes), ("a.c", "acb", .no), ("^$", "", .yes), ("ä+", "xäää", .yes),
        ("^.$", "é", .yes), ("^.$", "\u{1F600}", .yes), ("(?i)HELLO", "say hello", .yes), ("a.b", "a\u{0}b", .yes),
        ("b", "a\u{0}b", .yes), ("\\bfoo\\b", "a foo b", .yes),
    ])
    func searches(pattern: String, text: String, expected: TextPattern.Match) throws {
        #expect(try TextPattern(pattern).match(text) == expected)
    }

    @Test func catastrophicPatternIsGivenUp() throws {
        let pattern = try TextPattern("(a+)+$")
        let letters = String(repeating: "a", count: 16_000) + "!" + String(repeating: "a", count: 34_000)
        let start = ContinuousClock.now
        #expect(pattern.match(letters) == .overLimit)
        #expect(ContinuousClock.now - start < .seconds(1))
    }

    @Test func textBehindTheLimitIsNotSeen() throws {
        let pattern = try TextPattern("z")
        let limit = TextPattern.textLimit
        #expect(pattern.match(String(repeating: "a", count: limit - 1) + "z") == .yes)
        #expect(pattern.match(String(repeating: "a", count: limit) + "z") == .no)
    }

    @Test(arguments: 0..<4)
    func cutFallsBetweenCharacters(shift: Int) throws {
        let text = String(repeating: "a", count: TextPattern.textLimit - shift) + "\u{1F600}\u{1F600}"
        #expect(try TextPattern("^a+$").match(text) == .yes)
        #expect(try TextPattern("\u{1F600}").match(text) == .no)
    }

    @Test func invalidTextDoesNotMatch() throws {
        let bytes: [UInt8] = [0x61, 0xFF, 0x62]
        #expect(try TextPattern("a").match(bytes.span.bytes) == .no)
    }

    @Test func verbAtTheStartIsRefused() {
        #expect(throws: TextPattern.Fault.startsWithVerb) { try TextPattern("(*LIMIT_MATCH=1000000000)a") }
        #expect(throws: TextPattern.Fault.containsNUL) { try TextPattern("a\u{0}b") }
    }

    @Test func faultSpeaksOfThePatternAsWritten() throws {
        let fault = #expect(throws: TextPattern.Fault.self) { try TextPattern("a(b") }
        let text = fault?.description ?? ""
        #expect(text.contains("a(b"))
        #expect(!text.contains("LIMIT"))
    }

    @Test func onePatternServesManyThreads() async throws {
        let pattern = try TextPattern("^(foo|bar)+baz$")
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<16 {
                group.addTask {
                    (0..<500).allSatisfy { _ in
                        pattern.match(index % 2 == 0 ? "foobarbaz" : "foobaz!") == (index % 2 == 0 ? .yes : .no)
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
