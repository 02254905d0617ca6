import Glibc
import RelayCore
import Testing

@testable import RelayRules

/// The reference of the rules file: every key has an entry, and its examples are right.
struct RulesReferenceTests {
    /// An example and what it says of events.
    private struct Example {
        var kind: String
        var text = ""
        var cases: [(event: String, outcome: String)] = []
    }

    private static let lines: [Substring] = {
        let path = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/contrib/docs/rules.md"
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }()

    private static func examples() -> [Example] {
        var examples: [Example] = []
        var isInside = false
        for line in lines {
            if line.hasPrefix("```jsonc ") {
                examples.append(Example(kind: String(line.dropFirst(9))))
                isInside = true
            } else if line.hasPrefix("```") {
                isInside = false
            } else if isInside, line.hasPrefix("// > ") {
                let parts = line.dropFirst(5).split(separator: " -> ", maxSplits: 1)
                if parts.count == 2 { examples[examples.count - 1].cases.append((String(parts[0]), String(parts[1]))) }
            } else if isInside {
                examples[examples.count - 1].text += line + "\n"
            }
        }
        return examples
    }

    private static func file(_ example: Example) -> String {
        func part(_ kind: String, _ standard: String) -> String { example.kind == kind ? example.text : standard }
        return """
            {"lists": \(part("lists", #"{"friends": ["ann", "bo"], "bots": ["*_bot"]}"#)),
             "times": \(part("times", #"{"night": {"from": "22:00", "to": "07:00"}}"#)),
             "rules": [\(part("rule", ""))]}
            """
    }

    private static func event(_ text: String) -> Event {
        if text.hasPrefix("{") { return RelayRulesTests.event(raw: text) }
        let pairs = text.split(separator: " ").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        let fields = Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) })
        return RelayRulesTests.event(
            kind: fields["kind"] ?? "", actor: fields["actor"], post: fields["post"], text: fields["text"])
    }

    @Test func examplesAreReadAndDecideAsTheySay() throws {
        let examples = Self.examples()
        #expect(examples.count >= 40)
        var cases = 0
        for example in examples {
            let loaded = load(Self.file(example))
            #expect(loaded.lines == [], "\(example.text)")
            for (event, outcome) in example.cases {
                cases += 1
                #expect(loaded.rules?.outcome(Self.event(event)) == outcome, "\(example.text): \(event)")
            }
        }
        #expect(cases > 20)
    }

    /// The keys are those that the reader was asked for, so a new one without an entry fails here.
    @Test func everyKeyHasAnEntry() throws {
        let text = """
            {"lists": {}, "times": {"t": {"from": "01:00", "to": "02:00"}}, "rules": [{"name": "r", "to": ["log"],
              "when": {"field": {"/a": {"exists": true}}}, "limit": {"max": 1, "per": "1m"}, "digest": {"window": "1h"},
              "repeat": {"by": ["actor"], "within": "1m"}}]}
            """
        let problems = Problems(recordingObjects: true)
        let node = try #require(ConfigurationParser.parse(Array(text.utf8), problems: problems))
        var root = try #require(ObjectReader(node, problems))
        #expect(RuleSetReader.read(root: &root, sinkNames: ["log"], streamNames: [], problems: problems) != nil)
        root.finish()
        var keys: Set<String> = []
        for object in problems.objects {
            let place = object.node.place.keys.filter { $0 != "[]" && $0 != "rules" && $0 != "t" && $0 != "/a" }
            keys.formUnion(object.keys.map { (place + [$0]).joined(separator: ".") })
        }
        let headings = Self.lines.filter { $0.hasPrefix("### ") }.joined().split(separator: "`").map(String.init)
        for key in keys.subtracting(["rules"]) { #expect(headings.contains(key), "\(key) has no entry") }
        #expect(keys.count > 40)
    }
}
