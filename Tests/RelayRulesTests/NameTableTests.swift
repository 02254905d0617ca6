import RelayCore
import Testing

@testable import RelayRules

struct NameTableTests {
    private func exact(_ table: NameTable, _ name: [UInt8]) -> NameTable.Lookup { table.find(exactly: name.span.bytes) }
    private func folded(_ table: NameTable, _ name: [UInt8]) -> NameTable.Lookup {
        table.find(folding: name.span.bytes)
    }

    @Test func everyNameIsFoundAndNoOther() {
        for seed in 0..<60 as Range<UInt64> {
            var random = SplitMix(seed)
            func name() -> [UInt8] {
                (0..<Int.random(in: 0...20, using: &random)).map { _ in UInt8.random(in: 0x60...0x66, using: &random) }
            }
            let names = Array(Set((0..<300).map { _ in name() }))
            let table = NameTable(names)
            for (number, name) in names.enumerated() {
                #expect(exact(table, name) == .found(number), "seed \(seed)")
                let loud = name.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
                #expect(folded(table, loud) == .found(number), "seed \(seed)")
            }
            for _ in 0..<300 {
                let other = name()
                let found = exact(table, other) != .absent
                #expect(found == names.contains(other), "seed \(seed)")
            }
        }
    }

    @Test func foldingTouchesCapitalsOnly() {
        for byte in 0..<128 as Range<UInt8> {
            let table = NameTable([[byte, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, byte]])
            let isCapital = (0x41...0x5A).contains(byte)
            let itself: NameTable.Lookup = isCapital ? .absent : .found(0)
            #expect(folded(table, [byte, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, byte]) == itself)
            let other = byte ^ 0x20
            let expected: NameTable.Lookup = (0x61...0x7A).contains(byte) ? .found(0) : .absent
            #expect(folded(table, [other, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, other]) == expected)
        }
        #expect(folded(NameTable([]), [0xC3, 0xA9]) == .needsFolding)
        #expect(folded(NameTable([]), []) == .absent)
        #expect(folded(NameTable([[]]), []) == .found(0))
    }
}

struct GlobTests {
    private func matches(_ glob: String, _ text: [UInt8], folding: Bool) -> Bool {
        Glob(Array(glob.utf8)).matches(text.span.bytes, folding: folding)
    }

    @Test(arguments: [
        ("*", "", true), ("*", "x", true), ("?", "", false), ("?", "é", true), ("?", "👩", true), ("??", "é", false),
        ("a*b", "ab", true), ("a*b", "aXXb", true), ("a*b", "aXbX", false), ("*_bot", "x_bot_bot", true),
        ("*a?c", "abcaxc", true), ("a*?*b", "ab", false), ("**", "x", true), ("*é", "aé", true), ("*?é", "é", false),
        ("*é?", "xéé", true), ("*x*y*z*", "zyxyz", true), ("", "", true), ("", "a", false),
    ])
    func globMatchesWholeTexts(_ glob: String, _ text: String, _ expected: Bool) {
        let bytes = Array(text.utf8)
        #expect(matches(glob, bytes, folding: false) == expected)
    }

    @Test func capitalsAreFoldedOnDemand() {
        let bytes = Array("NEWS_Bot".utf8)
        #expect(matches("news_*", bytes, folding: true))
        #expect(!matches("news_*", bytes, folding: false))
    }

    @Test func longTextsAreMatchedByTheirBeginning() {
        let bytes = Array(("é" + String(repeating: "a", count: 1 << 20) + "end").utf8)
        #expect(matches("éa*", bytes, folding: false))
        #expect(!matches("*end", bytes, folding: false))
    }

    @Test(.timeLimit(.minutes(1))) func hostileTextsTakeBoundedTime() {
        let glob = Glob(Array((String(repeating: "*a", count: 200) + "b").utf8))
        let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
        let isMatch = glob.matches(bytes.span.bytes, folding: true)
        #expect(!isMatch)
    }
}
