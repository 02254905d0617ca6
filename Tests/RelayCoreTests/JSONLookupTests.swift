import RelayCore
import Testing

struct JSONLookupTests {
    private func text(_ pointer: String, _ json: String) -> String? {
        let bytes = Array(json.utf8)
        guard let pointer = JSONPointer(pointer), let value = JSONLookup.find(pointer, in: bytes.span.bytes) else {
            return nil
        }
        var text: [UInt8] = []
        guard value.append(from: bytes.span.bytes, to: &text) else { return "<\(value.kind)>" }
        return String(decoding: text, as: UTF8.self)
    }

    private static let document = #"""
         { "a" : "x", "b": {"c": [10, -2.5e3 , [true, null], {"d": "é\u00e9\ud83d\ude00\n\"\\\/"}]},
           "k/~": "slash", "\u006bey": "escaped", "": "empty", "lone": "\ud800x", "twice": 1, "twice": 2, "z": false }
        """#

    @Test(arguments: [
        ("/a", "x"), ("", "<object>"), ("/b", "<object>"), ("/b/c", "<array>"), ("/b/c/0", "10"),
        ("/b/c/1", "-2.5e3"), ("/b/c/2/0", "true"), ("/b/c/2/1", "<null>"), ("/b/c/3/d", "éé😀\n\"\\/"),
        ("/k~1~0", "slash"), ("/key", "escaped"), ("/", "empty"), ("/lone", "\u{FFFD}x"), ("/twice", "2"),
        ("/z", "false"), ("/b/c/4", nil), ("/b/c/-", nil), ("/b/c/00", nil), ("/b/c/01", nil), ("/b/c/x", nil),
        ("/a/0", nil), ("/nothing", nil), ("/b/d", nil), ("/b/c/3/d/e", nil), ("/b/c/99999999999999999999", nil),
    ])
    func pointerFindsItsValue(_ pointer: String, _ expected: String?) {
        #expect(text(pointer, Self.document) == expected)
    }

    @Test(arguments: [
        ("[]", 9, [], false), ("[ ]", 9, [], false), ("[1]", 9, ["1"], false), ("[1]", 0, [], true),
        (" [ 1 , \"a,]\" ,[2, [3]], {\"x\": [\"}\"]} ] ", 9, ["1", "\"a,]\"", "[2, [3]]", "{\"x\": [\"}\"]}"], false),
        ("[null,true,-1e5]", 2, ["null", "true"], true), ("[null,true,-1e5]", 3, ["null", "true", "-1e5"], false),
        ("{\"a\": 1}", 9, nil, false), ("\"[1]\"", 9, nil, false), ("7", 9, nil, false),
    ])
    func elementsOfAnArrayAreFound(_ json: String, _ limit: Int, _ expected: [String]?, _ isCut: Bool) {
        let bytes = Array(json.utf8)
        let found = JSONLookup.find(.whole, in: bytes.span.bytes)?.elements(in: bytes.span.bytes, atMost: limit)
        #expect(found?.places.map { String(decoding: bytes[$0], as: UTF8.self) } == expected)
        #expect(found?.isCut ?? false == isCut)
    }

    @Test func brokenTextDoesNoHarm() {
        let whole = Array(Self.document.utf8)
        let pointers = ["", "/a", "/b/c/3/d", "/lone", "/zz", "/b/c/2/1"].compactMap { JSONPointer($0) }
        for end in 0...whole.count {
            let part = Array(whole[..<end])
            for pointer in pointers {
                guard let value = JSONLookup.find(pointer, in: part.span.bytes) else { continue }
                #expect(value.range.upperBound <= part.count)
                var bytes: [UInt8] = []
                value.append(from: part.span.bytes, to: &bytes)
                let elements = value.elements(in: part.span.bytes, atMost: 100)?.places ?? []
                #expect(elements.allSatisfy { $0.upperBound <= part.count })
            }
        }
        for text in ["[", "{\"a\"", "{\"a\":", "{\"a\":\"", "\\", "]", "{]", "[1,", "{\"a\":1,", "\"\\", "{\"\\u"] {
            let bytes = Array(text.utf8)
            for pointer in pointers {
                _ = JSONLookup.find(pointer, in: bytes.span.bytes)?.elements(in: bytes.span.bytes, atMost: 9)
            }
        }
    }

    @Test func deepNestingCostsNoStack() {
        let depth = 200_000
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(self.text("/x", "{\"a\":\(text),\"x\":7}") == "7")
    }

    @Test(arguments: [
        ("1", "1.0"), ("100", "1e2"), ("0.001", "1E-3"), ("-0", "0"), ("0e5", "0.00"), ("12.50", "1.25e+1"),
        ("9007199254740993", "9007199254740993.0"),
    ])
    func equalNumbers(_ left: String, _ right: String) {
        #expect(JSONNumber(left) == JSONNumber(right))
        #expect(!(JSONNumber(left) < JSONNumber(right)) && !(JSONNumber(right) < JSONNumber(left)))
    }

    @Test(arguments: [
        ("1", "2"), ("-2", "-1"), ("-1", "0"), ("0", "0.1"), ("0.09", "0.1"), ("9", "10"), ("99", "1e2"),
        ("9007199254740992", "9007199254740993"), ("1e-400", "1e-399"), ("1e400", "1e401"), ("-1e400", "1"),
        ("1.5", "1.50001"), ("-10", "-9"), ("123", "123.4"), ("0.00123", "0.0013"),
    ])
    func smallerNumbers(_ left: String, _ right: String) {
        #expect(JSONNumber(left) < JSONNumber(right))
        #expect(!(JSONNumber(right) < JSONNumber(left)))
        #expect(JSONNumber(left) != JSONNumber(right))
    }
}
