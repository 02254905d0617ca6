import FoundationEssentials
import RelayCore
import RelayTestKit
import Testing

@testable import RelayApp

/// The schema that editors complete with says what the reader takes, no more and no less.
struct RulesSchemaTests {
    /// A file with every object that there is.
    private static let everything = #"""
        {
          "$schema": "contrib/rules.schema.json",
          "streams": {"s": {"url": "wss://a.example/ws", "token": {"env": "T"}, "redial": {}, "tls": {},
            "format": {"kind": "/k", "id": "/i"},
            "catchUp": {"url": "/e?after={cursor}", "events": "/e", "order": "oldest"}}},
          "history": {"keep": "7d", "max": "200MB", "all": false},
          "lists": {"l": ["a"]},
          "times": {"t": {"from": "22:00", "to": "07:00"}},
          "sinks": {"out": {"type": "stdout", "durable": true}, "pop": {"type": "desktop"},
            "hook": {"type": "webhook", "url": {"env": "U"}, "tls": {}}},
          "rules": [
            {"name": "a", "when": {"all": [{"actor": "@l"}, {"not": {"field": {"/a": {"exists": true}}}}]}, "to": ["pop"],
             "limit": {"max": 1, "per": "1m"}, "digest": {"window": "1h"}, "hold": "t",
             "repeat": {"by": ["actor"], "within": "1m"}},
            {"name": "b", "to": ["out", "hook"]}
          ]
        }
        """#

    private let schema: ConfigurationNode

    init() throws {
        let problems = Problems()
        schema = try #require(ConfigurationParser.parse(Self.file, problems: problems))
        #expect(problems.all.isEmpty)
    }

    private static let file: [UInt8] = {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        return (try? Data(contentsOf: URL(filePath: root + "/contrib/rules.schema.json"))).map { Array($0) } ?? []
    }()

    @Test func theProgramHasTheSameSchema() {
        #expect(!Self.file.isEmpty && Self.file == PackageResources.rules_schema_json)
    }

    @Test func keysOfReaderAndSchemaAreTheSame() throws {
        let problems = Problems(recordingObjects: true)
        let configuration = RelayConfiguration.read(Array(Self.everything.utf8), problems: problems)
        #expect(configuration != nil && problems.all.map { $0.line(file: "f") } == [])
        var visited: Set<Position> = []
        for object in problems.objects {
            let found = objects(at: object.node.place.keys[...], in: schema).filter { fits($0, object.node) }
            let described = try #require(found.first, "\(object.node.path) is not in the schema")
            #expect(found.count == 1, "\(object.node.path) is there twice")
            visited.insert(described.position)
            let keys = described["properties"]?.members.map(\.key) ?? []
            #expect(Set(keys) == Set(object.keys), "\(object.node.path)")
        }
        let all = allObjects(of: schema)
        #expect(all.count > 15)
        for object in all {
            #expect(visited.contains(object.position), "line \(object.position.line) describes nothing")
        }
    }

    @Test func everyPropertyIsDescribed() {
        for object in allObjects(of: schema) {
            for property in object["properties"]?.members ?? [] {
                let isDescribed = expanded(property.value).contains { $0["description"] != nil || $0["const"] != nil }
                #expect(isDescribed, "\(property.key) at line \(property.keyPosition.line)")
            }
        }
    }

    /// The examples of rules, conditions and what else stands in a rule are put into a file and read.
    @Test(arguments: [
        "rule", "condition", "limit", "digest", "repeat", "time", "stdout", "desktop", "webhook", "stream",
    ])
    func examplesAreRight(_ name: String) throws {
        let examples = try #require(schema["$defs"]?[name]?["examples"]?.list)
        #expect(!examples.isEmpty)
        for example in examples {
            let problems = Problems()
            _ = RelayConfiguration.read(Array(Self.file(with: name, example.json).utf8), problems: problems)
            let errors = problems.all.filter { $0.severity == .error }.map { $0.line(file: name) }
            #expect(errors == [], "\(example.json)")
        }
    }

    private static func file(with name: String, _ example: String) -> String {
        var rule = #"{"name": "r", "to": ["log"]}"#
        var (sinks, times, stream) = ("", "", #"{"url": "wss://a.example/"}"#)
        switch name {
        case "rule": rule = example
        case "condition": rule = #"{"name": "r", "to": ["log"], "when": \#(example)}"#
        case "limit", "digest", "repeat": rule = #"{"name": "r", "to": ["log"], "\#(name)": \#(example)}"#
        case "time": times = #""t": \#(example)"#
        case "stdout": sinks = #", "x": \#(example)"#
        case "stream": stream = example
        default: sinks = #", "x": \#(example)"#
        }
        let log = name == "stdout" ? #"{"type": "webhook", "url": "https://a.example/"}"# : #"{"type": "stdout"}"#
        return #"""
            {"streams": {"chirp": \#(stream)}, "lists": {"friends": ["a"], "bots": ["b"]}, "times": {\#(times)},
             "sinks": {"log": \#(log)\#(sinks)}, "rules": [\#(rule)]}
            """#
    }

    // MARK: Reading the schema

    /// A schema and all that it may stand for.
    private func expanded(_ node: ConfigurationNode) -> [ConfigurationNode] {
        var all = [node]
        if case .string(let reference)? = node["$ref"]?.value {
            let name = String(reference.dropFirst("#/$defs/".count))
            if let target = schema["$defs"]?[name] { all += expanded(target) }
        }
        for key in ["oneOf", "anyOf"] { all += (node[key]?.list ?? []).flatMap(expanded) }
        return all
    }

    private func objects(at keys: ArraySlice<String>, in node: ConfigurationNode) -> [ConfigurationNode] {
        let all = expanded(node)
        guard let key = keys.first else { return all.filter { $0["properties"] != nil } }
        let next = all.compactMap { schema -> ConfigurationNode? in
            if key == "[]" { return schema["items"] }
            if let property = schema["properties"]?[key] { return property }
            if case .object? = schema["additionalProperties"]?.value { return schema["additionalProperties"] }
            return nil
        }
        return next.flatMap { objects(at: keys.dropFirst(), in: $0) }
    }

    /// Whether the type of a sink is the one that a schema is for.
    private func fits(_ schema: ConfigurationNode, _ node: ConfigurationNode) -> Bool {
        guard case .string(let type)? = schema["properties"]?["type"]?["const"]?.value else { return true }
        guard case .string(let actual)? = node["type"]?.value else { return false }
        return type == actual
    }

    private func allObjects(of node: ConfigurationNode) -> [ConfigurationNode] {
        switch node.value {
        case .object(let members):
            let here = node["properties"] != nil && node["additionalProperties"] != nil ? [node] : []
            return here + members.filter { $0.key != "examples" }.flatMap { allObjects(of: $0.value) }
        case .array(let elements): return elements.flatMap(allObjects)
        default: return []
        }
    }
}

extension ConfigurationNode {
    fileprivate var members: [Member] {
        if case .object(let members) = value { return members }
        return []
    }

    fileprivate subscript(key: String) -> ConfigurationNode? { members.first { $0.key == key }?.value }
}
