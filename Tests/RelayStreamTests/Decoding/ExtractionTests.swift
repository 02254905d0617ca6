import FoundationEssentials
import RelayCore
import RelayStream
import RelayTestKit
import Testing

/// Fields are found where FoundationEssentials' decoder finds them.
struct ExtractionTests {
    @Test(arguments: 0..<50 as Range<UInt64>)
    func fieldsAreThoseThatFoundationFinds(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<20 {
            let (text, paths) = RandomJSON.document(using: &generator)
            var chosen = (0..<5).map { _ in paths.randomElement(using: &generator) ?? ["a"] }
            chosen[0].append(RandomJSON.keys.randomElement(using: &generator) ?? "a")
            let document = "{\"kind\":\"k\",\"in\":\(String(decoding: text, as: UTF8.self))}"
            let pointers = try chosen.map { try #require(RandomJSON.pointer(["in"] + $0)) }
            let format = EventFormat(
                kind: try #require(JSONPointer("/kind")), actor: pointers[0], post: pointers[1], text: pointers[2],
                link: pointers[3])
            let decoding = Decoding(document, format: format)
            let event = try #require(decoding.events.first, "seed \(seed): \(document)")
            let whole = try JSONDecoder().decode(DecodedJSON.self, from: Data(document.utf8))
            for (found, path) in zip([event.actor, event.post, event.text, event.link], chosen) {
                #expect(
                    Self.agrees(found, whole.value(at: ["in"] + path)),
                    "seed \(seed), round \(round), \(path): \(document)")
            }
        }
    }

    private static func agrees(_ found: String?, _ value: DecodedJSON?) -> Bool {
        switch value {
        case .string(let text): text.isEmpty ? found == nil : found == text
        case .integer(let number): found.flatMap(Int64.init) == number || found.flatMap(Double.init) == Double(number)
        case .double(let number): found.flatMap(Double.init) == number
        case .null, .bool, .array, .object, nil: found == nil
        }
    }

    @Test func rawItemsAreTheirJSON() {
        let items = ["{\"kind\":\"a\"}", "{ \"kind\" : \"b\" , \"x\" : [ 1 ] }", "{\"kind\":\"c\\n\",\"n\":1}"]
        let decoding = Decoding(" [ " + items.joined(separator: " ,\t") + " ] ", items[0] + "\n" + items[1] + " \n")
        let raws = decoding.batch.records.indices.map {
            decoding.batch[$0].text(of: decoding.batch.records[$0].raw)?.string
        }
        #expect(raws == items + items[0..<2])
    }
}
