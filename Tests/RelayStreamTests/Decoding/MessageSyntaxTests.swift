import FoundationEssentials
import Glibc
import RelayCore
import RelayStream
import RelayTestKit
import Testing

/// What counts as JSON, whatever the format.
struct MessageSyntaxTests {
    @Test(arguments: [
        "{", "}", "[", "]", "{]", "[}", "[,]", "[1,]", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1 \"b\":2}",
        "{\"a\"::1}", "{a:1}", "{'a':1}", "{1:1}", "[1 2]", "[\"a\" \"b\"]", "[\"a\"1]", "[1\"a\"]", "[\"a\"b]",
        "[true\"a\"]",
        "[tru]", "[truee]", "[True]", "[nul]", "[nulll]", "[fals]", "[falsey]", "[NaN]", "[Infinity]", "[-]", "[+1]",
        "[01]",
        "[-01]", "[1.]", "[.5]", "[1e]", "[1e+]", "[1.e3]", "[0x10]", "[1_000]", "[1a]", "[--1]", "[1.2.3]",
        "[\"\\x\"]",
        "[\"\\u12\"]", "[\"\\u12G4\"]", "[\"\\\"]", "[\"\n\"]", "[\"\u{1}\"]", "[\"a]", "[1]]", "[1][2]", "[1],",
        "{\"a\":1}}",
        "// comment\n[1]", "[1] x", "[\"\\u\"]", "\"", "\\", "[\u{b}1]", "[\u{a0}1]", "{\"a\\x\":1}", "[1,\n2,]", ":",
        ",", "nul", "1 2",
        "[[[1]]", "{\"a\":{\"b\":1}", "-", "\"a\" \"b\"",
    ])
    func otherTextIsRefused(text: String) {
        let decoding = Decoding(text, chirpEvent())
        #expect(decoding.counts == [.notJSON: 1])
        #expect(decoding.events.count == 1)
    }

    @Test(arguments: [
        "0", "-0", "-1.5e-10", "1E+400", "123456789012345678901234567890", "true", "false", "null", "\"\"", " [ ] ",
        "{ }", "\t{\r\n\"a\" : [ 1 , 2 ] }\n", "\"\\u0000\\ud800\"", "[[],{},[{}]]", "\"\u{7f}é😀\"", "[\"\\\\\"]",
        "[\"\\\\\\\"\"]",
        "{\"\":0}", "[1,\n2]",
    ])
    func allJSONIsTaken(text: String) {
        let decoding = Decoding("{\"kind\":\"a\",\"x\":\(text)}")
        #expect(decoding.kinds == ["a"])
        #expect(Decoding(text).counts[.notJSON] == nil)
    }

    @Test func sixtyFourLevelsAreTheLimit() {
        func nested(_ levels: Int, _ open: String, _ middle: String, _ close: String) -> String {
            "{\"kind\":\"a\",\"x\":" + String(repeating: open, count: levels - 1) + middle
                + String(repeating: close, count: levels - 1) + "}"
        }
        #expect(Decoding(nested(64, "[", "1", "]")).kinds == ["a"])
        #expect(Decoding(nested(64, "{\"y\":", "1", "}")).kinds == ["a"])
        #expect(Decoding(nested(65, "[", "1", "]")).counts == [.tooDeep: 1])
        #expect(Decoding(nested(65, "{\"y\":", "{}", "}")).counts == [.tooDeep: 1])
        #expect(Decoding(nested(65, "[", "", "]")).counts == [.tooDeep: 1])
        #expect(Decoding("[" + nested(63, "[", "1", "]") + "]").kinds == ["a"])
        #expect(Decoding("[" + nested(64, "[", "1", "]") + "]").counts == [.tooDeep: 1])
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":"])
    func hugeNestingIsCheapToRefuse(open: String) {
        let message = Array(String(repeating: open, count: 100_000).utf8)
        let duration = ContinuousClock().measure {
            #expect(Decoding(message).counts == [.tooDeep: 1])
        }
        #expect(duration < .seconds(1))
    }

    @Test(arguments: [
        chirpEvent(["text": #""a\"\ud83d\ude00\\""#, "more": "[1, true, {\"a\": null}, -1.5e3]"]),
        "[" + chirpEvent() + " , " + chirpEvent(["id": "123"]) + "]", "{\"kind\":\"é😀\"}",
    ])
    func everyTruncationCostsTheMessage(message: String) {
        let bytes = Array(message.utf8)
        #expect(!Decoding(bytes).events.isEmpty)
        for count in 0..<bytes.count {
            let decoding = Decoding(Array(bytes[..<count]))
            #expect(decoding.events.isEmpty, "\(count) bytes")
            #expect(decoding.counts.values.reduce(0, +) == 1)
        }
    }

    /// simdjson's other interfaces want readable bytes behind the text; this one must not.
    @Test func textAtTheEndOfReadableMemoryIsReadNoFurther() throws {
        let page = sysconf(Int32(_SC_PAGESIZE))
        let mapping = try #require(mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        try #require(mapping != MAP_FAILED)
        defer { munmap(mapping, 2 * page) }
        try #require(mprotect(mapping + page, page, PROT_NONE) == 0)
        for padding in 0..<200 {
            for (ending, isEvent) in [
                ("\"}", true), ("", false), ("\\", false), ("\\u12", false), ("\",\"n\":12", false),
            ] {
                let text = Array(("{\"kind\":\"like" + String(repeating: "x", count: padding) + ending).utf8)
                let start = mapping + (page - text.count)
                text.withUnsafeBytes {
                    start.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(start), byteCount: text.count)
                }
                var decoder = EventDecoder(format: .chirp, ids: IDSource(stream: "s", random: 1, connection: 1))
                var batch = EventBatch(stream: "s")
                let message = UnsafeRawBufferPointer(start: start, count: text.count)
                let outcome = decoder.decode(message.bytes, receivedAt: Decoding.receivedAt, into: &batch)
                #expect(outcome.events == (isEvent ? 1 : 0))
            }
        }
    }

    /// Both must take the same texts, wherever a byte is changed.
    @Test(arguments: 0..<30 as Range<UInt64>)
    func damagedDocumentsAreJudgedAsByFoundation(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        // No "e": Foundation refuses numbers that no Double can hold.
        let alphabet = Array("{}[]:,\"\\0123456789-. truflasn/b".utf8)
        for _ in 0..<200 {
            var text = RandomJSON.document(using: &generator).text
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: text.indices, using: &generator)
                let byte = alphabet.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: text[index] = byte
                case 1: text.insert(byte, at: index)
                default: if text.count > 1 { text.remove(at: index) }
                }
            }
            // Foundation takes a comma behind an object's last member; JSON does not.
            let written = text.filter { !" \t\r".utf8.contains($0) }
            if zip(written, written.dropFirst()).contains(where: { $0 == UInt8(ascii: ",") && $1 == UInt8(ascii: "}") })
            {
                continue
            }
            let isJSON = (try? JSONDecoder().decode(DecodedJSON.self, from: Data(text))) != nil
            let counts = Decoding(text).counts
            let isTaken = [.notJSON, .notUTF8, .tooDeep, .emptyMessage].allSatisfy { counts[$0] == nil }
            #expect(isTaken == isJSON, "seed \(seed): \(String(decoding: text, as: UTF8.self))")
        }
    }
}
