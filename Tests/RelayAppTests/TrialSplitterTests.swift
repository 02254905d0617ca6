import RelayTestKit
import Testing

@testable import RelayApp

/// Bytes are split into JSON values, whatever their form and wherever a read ends.
struct TrialSplitterTests {
    private struct Piece: Equatable, CustomStringConvertible {
        var text: String
        var line: Int
        var fault: ValueSplitter.Fault?

        init(_ text: String, _ line: Int, _ fault: ValueSplitter.Fault? = nil) {
            (self.text, self.line, self.fault) = (text, line, fault)
        }

        var description: String { "\(line): \(text) \(fault.map { "\($0)" } ?? "")" }
    }

    private func split(_ text: String, opensArrays: Bool = true, chunks: [Int] = []) -> [Piece] {
        var splitter = ValueSplitter(opensArrays: opensArrays)
        var pieces: [Piece] = []
        var rest = Array(text.utf8)[...]
        var sizes = chunks[...]
        func add(_ value: ValueSplitter.Value) {
            pieces.append(Piece(String(decoding: splitter.bytes[value.place], as: UTF8.self), value.line, value.fault))
        }
        while !rest.isEmpty {
            let size = sizes.popFirst() ?? rest.count
            splitter.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let value = splitter.next() { add(value) }
        }
        if let value = splitter.last() { add(value) }
        return pieces
    }

    @Test func valuesStandOneALine() {
        #expect(
            split("{\"a\":1}\n\n{\"b\":{\"c\":[2]}}\r\n") == [Piece(#"{"a":1}"#, 1), Piece(#"{"b":{"c":[2]}}"#, 3)])
    }

    @Test func theLastLineNeedsNoEnd() {
        #expect(split(#"{"a":1}"#) == [Piece(#"{"a":1}"#, 1)])
    }

    @Test func valuesMayFollowEachOtherOnOneLine() {
        #expect(split(#"{"a":1} {"b":2}"#) == [Piece(#"{"a":1}"#, 1), Piece(#"{"b":2}"#, 1)])
    }

    @Test func anArrayIsReadAsItsElements() {
        let expected = [Piece(#"{"a":1}"#, 1), Piece("{\n  \"b\": \"]\"\n }", 2)]
        #expect(split("[{\"a\":1},\n {\n  \"b\": \"]\"\n }\n]\n") == expected)
    }

    @Test func anArrayIsOneValueWhereItIsAnEnvelope() {
        #expect(split("[null,{\"a\":1}]\n[2]", opensArrays: false) == [Piece("[null,{\"a\":1}]", 1), Piece("[2]", 2)])
    }

    @Test func whatStandsInAStringEndsNothing() {
        let text = #"{"a":"}\"{","b":"\\"}"#
        #expect(split(text + text) == [Piece(text, 1), Piece(text, 1)])
    }

    @Test func aByteOrderMarkIsSteppedOver() {
        #expect(split("\u{feff}{\"a\":1}") == [Piece(#"{"a":1}"#, 1)])
    }

    @Test func anUnclosedValueEndsWhereTheNextLineBeginsOne() {
        #expect(split("{\"a\":\n{\"b\":2}") == [Piece("{\"a\":\n", 1, .unclosed), Piece(#"{"b":2}"#, 2)])
        #expect(split("{\"a\":\"x\n{\"b\":2}") == [Piece("{\"a\":\"x", 1, .unclosed), Piece(#"{"b":2}"#, 2)])
        #expect(split(#"{"a":{"#) == [Piece(#"{"a":{"#, 1, .unclosed)])
        #expect(split("{\"a\":\"\\\n{\"b\":2}") == [Piece("{\"a\":\"\\", 1, .unclosed), Piece(#"{"b":2}"#, 2)])
    }

    @Test func somethingElseLastsToTheEndOfItsLine() {
        #expect(split("hello {\n{\"b\":2}\n7") == [Piece("hello {", 1), Piece(#"{"b":2}"#, 2), Piece("7", 3)])
        #expect(split("[7,{\"b\":2}]") == [Piece("7", 1), Piece(#"{"b":2}"#, 1)])
    }

    @Test func aValueThatIsTooLongCostsItsLine() {
        let long = "{\"a\":\"" + String(repeating: "x", count: ValueSplitter.longest) + "\"}"
        let pieces = split(long + "\n{\"b\":2}")
        #expect(pieces.map(\.line) == [1, 2] && pieces.map(\.fault) == [.tooLong, nil])
    }

    @Test(arguments: 0..<300) func itDoesNotMatterWhereAReadEnds(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let parts = [
            "{\"a\":1}", "\n", "{\"b\":\"\\\\\\\"}\"}", " ", "{\"c\":{\"d\":[]}}", "[", "]", ",", "\"", "x", "{", "}",
            "\\",
            "é", "\r\n", "{\n \"e\": 1\n}",
        ]
        let text = (0..<20).map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
        let chunks = (0..<200).map { _ in Int.random(in: 1...3, using: &generator) }
        for opensArrays in [true, false] {
            let whole = split(text, opensArrays: opensArrays)
            #expect(split(text, opensArrays: opensArrays, chunks: chunks) == whole, "seed \(seed)")
        }
    }
}
