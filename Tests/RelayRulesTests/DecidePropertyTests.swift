import RelayCore
import Testing

@testable import RelayRules

/// A condition as a plain tree, with an evaluator that knows neither bytes nor an index.
private indirect enum Plain {
    case field(String, [String])
    case all([Plain])
    case any([Plain])
    case not(Plain)

    var json: String {
        func list(_ parts: [Plain]) -> String { "[" + parts.map { "{\($0.json)}" }.joined(separator: ",") + "]" }
        switch self {
        case .field(let name, let values):
            return "\"\(name)\":[" + values.map { "\"\($0)\"" }.joined(separator: ",") + "]"
        case .all(let parts): return "\"all\":" + list(parts)
        case .any(let parts): return "\"any\":" + list(parts)
        case .not(let part): return "\"not\":{\(part.json)}"
        }
    }

    func holds(_ fields: [String: String], _ lists: [String: [String]]) -> Bool {
        switch self {
        case .field(let name, let values):
            guard let text = fields[name] else { return false }
            let isFolded = name == "actor" || name == "text"
            func form(_ text: String) -> [Character] {
                isFolded ? Array(text.lowercased()) : text.unicodeScalars.map { Character($0) }
            }
            return values.flatMap { value in lists[String(value.dropFirst())] ?? [value] }
                .contains { Self.matches(form($0)[...], form(text)[...]) }
        case .all(let parts): return parts.allSatisfy { $0.holds(fields, lists) }
        case .any(let parts): return parts.contains { $0.holds(fields, lists) }
        case .not(let part): return !part.holds(fields, lists)
        }
    }

    private static func matches(_ glob: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
        guard let first = glob.first else { return text.isEmpty }
        if first == "*" {
            return matches(glob.dropFirst(), text) || (!text.isEmpty && matches(glob, text.dropFirst()))
        }
        guard let next = text.first, first == "?" || first == next else { return false }
        return matches(glob.dropFirst(), text.dropFirst())
    }
}

/// A rule as plain data.
private struct PlainRule {
    var when: Plain?
    var isDrop: Bool
    var isContinued: Bool
    var sinks: [Int]

    func json(_ number: Int, _ sinkNames: [String]) -> String {
        let when = when.map { ",\"when\":{\($0.json)}" } ?? ""
        let to = sinks.map { "\"\(sinkNames[$0])\"" }.joined(separator: ",")
        let action = isDrop ? ",\"drop\":true" : ",\"to\":[\(to)]"
        return "{\"name\":\"r\(number)\"\(when)\(action)\(isContinued ? ",\"continue\":true" : "")}"
    }
}

struct DecidePropertyTests {
    private static let names = [
        "ann", "Bo", "zoë", "ZOË", "news_bot", "é_bot", "k", "averyverylongname", "AVERYVERYLONGNAMF", "a",
    ]
    private static let kinds = ["like", "comment", "follow", "Like", "poll"]
    private static let texts = ["hi", "HI there", "É?", "", "hi hi hi", "ünïcode text"]
    private static let globs = ["*", "?", "??", "*_bot", "a*", "*o*", "?o", "*é*", "hi*hi", "a*e*e*n?"]
    private static let lists = ["l1": ["ann", "ZOË", "k"], "l2": ["*_bot", "bo"], "l3": ["like", "hi"]]
    private static let sinkNames = ["s0", "s1", "s2"]

    private static func condition(_ depth: Int, _ random: inout SplitMix) -> Plain {
        func values(_ pool: [String]) -> [String] {
            (0..<Int.random(in: 1...3, using: &random)).map { _ in
                switch Int.random(in: 0..<8, using: &random) {
                case 0: globs.randomElement(using: &random) ?? "*"
                case 1: "@" + (["l1", "l2", "l3"].randomElement(using: &random) ?? "l1")
                default: pool.filter { !$0.isEmpty }.randomElement(using: &random) ?? "ann"
                }
            }
        }
        switch Int.random(in: 0..<(depth > 2 ? 5 : 8), using: &random) {
        case 0, 1: return .field("actor", values(names))
        case 2, 3: return .field("kind", values(kinds))
        case 4:
            return Bool.random(using: &random) ? .field("text", values(texts)) : .field("post", values(["p1", "P1"]))
        case 5: return .all((0..<Int.random(in: 1...3, using: &random)).map { _ in condition(depth + 1, &random) })
        case 6: return .any((0..<Int.random(in: 1...3, using: &random)).map { _ in condition(depth + 1, &random) })
        default: return .not(condition(depth + 1, &random))
        }
    }

    private static func rule(_ random: inout SplitMix) -> PlainRule {
        let isDrop = Int.random(in: 0..<5, using: &random) == 0
        let sinks = [0, 1, 2].shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
        return PlainRule(
            when: Int.random(in: 0..<12, using: &random) == 0 ? nil : condition(0, &random), isDrop: isDrop,
            isContinued: !isDrop && Int.random(in: 0..<3, using: &random) > 0, sinks: isDrop ? [] : Array(sinks))
    }

    private static func decide(_ rules: [PlainRule], _ fields: [String: String]) -> [Effect] {
        var effects: [Effect] = []
        var hasMatched = false
        for (number, rule) in rules.enumerated() where rule.when?.holds(fields, lists) ?? true {
            hasMatched = true
            if rule.isDrop {
                if effects.isEmpty { effects.append(Effect(rule: number, sink: -1, action: .suppress(.dropped))) }
                break
            }
            for sink in rule.sinks where !effects.contains(where: { $0.sink == sink }) {
                effects.append(Effect(rule: number, sink: sink, action: .deliver))
            }
            if !rule.isContinued { break }
        }
        return hasMatched ? effects : [Effect(rule: -1, sink: -1, action: .suppress(.unmatched))]
    }

    @Test func indexedDecisionsEqualPlainOnes() throws {
        let listText = Self.lists.map { "\"\($0)\":[" + $1.map { "\"\($0)\"" }.joined(separator: ",") + "]" }
            .joined(separator: ",")
        var outcomes: Set<Int> = []
        for seed in 0..<1000 as Range<UInt64> {
            var random = SplitMix(seed)
            let rules = (0..<Int.random(in: 1...12, using: &random)).map { _ in Self.rule(&random) }
            let ruleText = rules.enumerated().map { $1.json($0, Self.sinkNames) }.joined(separator: ",")
            let problems = Problems()
            let node = try #require(
                ConfigurationParser.parse(
                    Array("{\"lists\":{\(listText)},\"rules\":[\(ruleText)]}".utf8), problems: problems))
            var root = try #require(ObjectReader(node, problems))
            let set = try #require(
                RuleSetReader.read(root: &root, sinkNames: Self.sinkNames, streamNames: [], problems: problems),
                "seed \(seed): \(problems.all.map(\.message))")
            var effects: [Effect] = []
            for _ in 0..<20 {
                let actor = Int.random(in: 0..<6, using: &random) == 0 ? nil : Self.names.randomElement(using: &random)
                let kind = Self.kinds.randomElement(using: &random) ?? "like"
                let text = Bool.random(using: &random) ? nil : Self.texts.randomElement(using: &random)
                let post = ["p1", "P1", "p2", nil].randomElement(using: &random) ?? nil
                var fields = ["kind": kind]
                fields["actor"] = actor
                fields["text"] = text
                fields["post"] = post
                effects.removeAll(keepingCapacity: true)
                set.decide(
                    event(kind: kind, actor: actor, post: post, text: text), at: Instant(milliseconds: 0),
                    into: &effects)
                let expected = Self.decide(rules, fields)
                #expect(effects == expected, "seed \(seed): \(fields) in \(ruleText)")
                outcomes.insert(expected.count * 16 + (expected.first?.rule ?? 0))
            }
        }
        #expect(outcomes.count > 20, "the random rules are too much alike to show anything")
    }
}
