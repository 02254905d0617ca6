import Testing

@testable import RelayCore

/// A text and the line that a person reads about it.
struct FaultyText: Sendable, CustomTestStringConvertible {
    var text: String
    var line: String
    var testDescription: String { line }

    init(_ text: String, _ line: String) {
        self.text = text
        self.line = line
    }
}

struct ConfigurationParserTests {
    private func lines(_ bytes: [UInt8]) -> [String] {
        let problems = Problems()
        _ = ConfigurationParser.parse(bytes, problems: problems)
        return problems.sorted.map { $0.line(file: "f") }
    }

    @Test(arguments: [
        FaultyText("", "f:1:1: the file is empty; it should hold one object { ... }"),
        FaultyText("  // only this", "f:1:15: the file is empty; it should hold one object { ... }"),
        FaultyText("{} {}", "f:1:4: found \"{\" after the end of the file's value"),
        FaultyText("{\"a\": 1 \"b\": 2}", "f:1:9: a comma is missing before a string"),
        FaultyText("[1 true]", "f:1:4: a comma is missing before \"true\""),
        FaultyText("[{}\n{}]", "f:2:1: a comma is missing before \"{\""),
        FaultyText("[1,,2]", "f:1:4: two commas without a value between them"),
        FaultyText("[,]", "f:1:2: expected a value, found \",\""),
        FaultyText("{\n  \"a\": [1, 2\n", "f:3:1: the array opened at 2:8 is not closed; a \"]\" is missing"),
        FaultyText("{\"a\": {}", "f:1:9: the object opened at 1:1 is not closed; a \"}\" is missing"),
        FaultyText("{\"a\": [1}", "f:1:9: the array opened at 1:7 is closed by \"]\", found \"}\""),
        FaultyText("[\"é\", \"abc\n]", "f:1:7: the string that begins here is not closed on its line; a '\"' is missing"),
        FaultyText("[\"abc", "f:1:2: the string that begins here is not closed; a '\"' is missing"),
        FaultyText("{a: 1}", "f:1:2: a key is written in double quotes"),
        FaultyText("{'a': 1}", "f:1:2: a key is written in double quotes"),
        FaultyText("{1: 1}", "f:1:2: a key is written in double quotes"),
        FaultyText("{[]: 1}", "f:1:2: expected a key in double quotes, found \"[\""),
        FaultyText("{\"a\" 1}", "f:1:6: expected \":\" after the key \"a\", found \"1\""),
        FaultyText("{\"a\":}", "f:1:6: expected a value, found \"}\""),
        FaultyText("{\"a\":", "f:1:6: expected a value, found the end of the file"),
        FaultyText("['a']", "f:1:2: a string is written in double quotes"),
        FaultyText("[True]", "f:1:2: unknown word \"True\"; did you mean \"true\"?"),
        FaultyText("[yes]", "f:1:2: unknown word \"yes\""),
        FaultyText("[01]", "f:1:2: \"01\" is no JSON number; a text is written in double quotes"),
        FaultyText("[+1]", "f:1:2: \"+1\" is no JSON number; a text is written in double quotes"),
        FaultyText("[.5]", "f:1:2: \".5\" is no JSON number; a text is written in double quotes"),
        FaultyText("[1.]", "f:1:2: \"1.\" is no JSON number; a text is written in double quotes"),
        FaultyText("[1e]", "f:1:2: \"1e\" is no JSON number; a text is written in double quotes"),
        FaultyText("[90s]", "f:1:2: \"90s\" is no JSON number; a text is written in double quotes"),
        FaultyText("# x", "f:1:1: a comment begins with \"//\""),
        FaultyText("{} /* x", "f:1:4: the comment that begins here is not closed; a \"*/\" is missing"),
        FaultyText("{} /*/", "f:1:4: the comment that begins here is not closed; a \"*/\" is missing"),
        FaultyText("[/]", "f:1:2: expected a comment, \"//\" or \"/*\", found a single \"/\""),
        FaultyText("[\"\\x\"]", #"f:1:3: an unknown escape; JSON has \" \\ \/ \b \f \n \r \t and \u with four digits"#),
        FaultyText("[\"\\u12g4\"]", #"f:1:3: \u is followed by four hexadecimal digits"#),
        FaultyText("[\"\\ud83d\"]", "f:1:3: half of a surrogate pair; write both halves, or the character itself"),
        FaultyText("[\"\\ude00\"]", "f:1:3: half of a surrogate pair; write both halves, or the character itself"),
        FaultyText("[\"\\ud83d\\u0041\"]", "f:1:3: half of a surrogate pair; write both halves, or the character itself"),
        FaultyText("[\"a\tb\"]", #"f:1:4: a control character in a string; write \u0009"#),
        FaultyText("[\u{1}]", #"f:1:2: expected a value, found "\u{1}""#),
        FaultyText(
            "{\"a\": 1,\n \"b\": {\"a\": 2, \"a\": 3}}", "f:2:16: b.a: the key \"a\" stands twice: here and at 2:8"),
    ])
    func mistakeIsToldWithItsPlace(_ fault: FaultyText) {
        #expect(lines(Array(fault.text.utf8)) == [fault.line])
    }

    @Test func invalidUTF8IsToldWithItsPlace() {
        #expect(lines(Array("{\n\"é".utf8) + [0xFF, 0x22]) == [
            "f:2:3: the bytes from here on are not UTF-8; save the file as UTF-8"
        ])
        #expect(lines([0xFF, 0xFE, 0x7B, 0]) == ["f:1:1: the file is UTF-16; save it as UTF-8"])
    }

    @Test func commentsTrailingCommasAndMarkAreTaken() throws {
        let text = "\u{FEFF}// a\n{ /* b\r\n */ \"k\": [1, -0.5e+3, ], \"o\": {\"x\": null,}, } // c"
        let problems = Problems()
        let node = try #require(ConfigurationParser.parse(Array(text.utf8), problems: problems))
        #expect(problems.all.isEmpty)
        guard case .object(let members) = node.value, case .array(let numbers) = members[0].value.value,
            case .number(let number) = numbers[1].value
        else {
            Issue.record("not the shape that was written")
            return
        }
        #expect(members.map(\.key) == ["k", "o"])
        #expect(number == "-0.5e+3")
        #expect(members[0].keyPosition == Position(line: 3, column: 5))
        #expect(numbers[1].position == Position(line: 3, column: 14))
        #expect(numbers[1].path == "k[1]")
    }

    @Test func escapesGiveTheirCharacters() {
        let problems = Problems()
        let text = #"["\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00\u0000 é😀"]"#
        let node = ConfigurationParser.parse(Array(text.utf8), problems: problems)
        #expect(node?.list.first?.string(problems) == "\"\\/\u{8}\u{C}\n\r\té😀\u{0} é😀")
    }

    @Test func columnsCountScalarsAndEveryLineEndCounts() {
        let problems = Problems()
        let node = ConfigurationParser.parse(Array("[\"é😀\", 1,\r\n2,\r3,\n\n4]".utf8), problems: problems)
        let places = node?.list.map { [$0.position.line, $0.position.column] }
        #expect(places == [[1, 2], [1, 8], [2, 1], [3, 1], [5, 1]])
    }

    @Test func nestingHasALimit() {
        let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(lines(Array(deepest.utf8)).isEmpty)
        #expect(lines(Array("[\(deepest)]".utf8)) == ["f:1:65: nested deeper than 64 levels"])
        #expect(lines(Array(String(repeating: "{\"a\":", count: 100_000).utf8)) == ["f:1:321: nested deeper than 64 levels"])
    }

    @Test func sizeAndNumberOfValuesHaveLimits() {
        let large = [UInt8](repeating: 0x20, count: ConfigurationParser.largestFile + 1)
        #expect(lines(large) == ["f:1:1: the file is larger than 16 MiB"])
        let many = "[" + String(repeating: "1,", count: 1_000_001) + "]"
        #expect(lines(Array(many.utf8)) == ["f:1:2000000: the file has more than 1000000 values"])
    }

    @Test func longKeysInPathsAreCut() {
        let key = String(repeating: "k", count: 5000)
        let problems = Problems()
        let node = ConfigurationParser.parse(Array("{\"\(key)\": [1]}".utf8), problems: problems)
        guard case .object(let members)? = node?.value else { return }
        #expect(members[0].value.list[0].path.count < 80)
    }

    @Test func anyBytesEndWithoutACrash() {
        let pieces: [[UInt8]] = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "d83d", "/", "*", "//", "\n", "\r", "1", "-", ".", "e",
            "true", "null", "\"a\"", "é", " ",
        ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0], [0xEF, 0xBB, 0xBF]]
        for seed in 0..<4000 as Range<UInt64> {
            var random = SplitMix(seed)
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...40, using: &random) { bytes += pieces.randomElement(using: &random) ?? [] }
            let problems = Problems()
            let node = ConfigurationParser.parse(bytes, problems: problems)
            #expect(node != nil || problems.hasErrors, "seed \(seed)")
        }
    }

    @Test func everyTruncationIsOneFault() {
        let text = Array("{\"a\": [1, 2.5, {\"b\": \"é\\n\\u00e9\"}], /* c */ \"d\": null}".utf8)
        #expect(lines(text).isEmpty)
        for count in text.indices { #expect(lines(Array(text[..<count])).count == 1, "first \(count) bytes") }
    }

    @Test func messagesCannotMoveATerminal() {
        #expect(lines(Array("{\"\\u001b[2J\": 1 \"\u{202E}".utf8)).allSatisfy { !$0.contains("\u{1B}") })
        let problems = Problems()
        let node = ConfigurationNode(.null, at: Position(line: 1, column: 1), path: "a")
        problems.add(at: node, "\u{1B}[2J\u{202E}\n")
        #expect(problems.all[0].line(file: "f") == #"f:1:1: a: \u{1b}[2J\u{202e}\u{a}"#)
    }
}

/// A small random generator with a seed (Steele, Lea and Flood, 2014).
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
