import RelayCore
import Testing

@testable import RelayApp

/// What differs between two rules files.
struct RulesOutlineTests {
    private func outline(_ text: String) throws -> RulesOutline {
        RulesOutline(try #require(ConfigurationParser.parse(Array(text.utf8), problems: Problems())))
    }

    private func differences(_ old: String, _ new: String) throws -> [String] {
        try outline(old).differences(to: outline(new)).map { "\($0.name): \($0.value)" }
    }

    @Test(arguments: [
        (
            #"{"sinks": {"a": {"x": 1, "y": [true, null]}}}"#,
            "{\n  \"sinks\": {\"a\": {\"y\": [true, null,], // why\n\"x\": 1}}}"
        ),
        (#"{"rules": [{"name": "a"}]}"#, #"{"rules": [{"name": "a", "_note": "hm"}], "$schema": "x"}"#),
        (#"{"lists": {"a": ["b"]}}"#, #"{"lists": {"a": ["\u0062"], "x-mine": 3}}"#),
    ]) func whatSaysTheSameIsTheSame(old: String, new: String) throws {
        #expect(try differences(old, new) == [])
    }

    @Test func everySectionIsTold() throws {
        let old = """
            {"streams": {"s": {"link": "a"}, "t": 1}, "lists": {"l": ["a", "b"]}, "times": {"n": 1},
             "rules": [{"name": "a"}, {"name": "b"}, {"name": "c", "to": ["x"]}]}
            """
        let new = """
            {"streams": {"s": {"link": "b"}}, "sinks": {"x": 1, "y": 2}, "lists": {"l": ["b", "a"]}, "times": {"n": 1},
             "rules": [{"name": "b"}, {"name": "a"}, {"name": "c", "to": ["y"]}, {"name": "d"}]}
            """
        #expect(
            try differences(old, new) == [
                "streams: changed s; removed t", "sinks: added x, y", "lists: changed l",
                "rules: added d; changed c; in another order",
            ])
    }

    @Test func manyNamesAreCounted() throws {
        let names = (0..<7).map { #""n\#($0)": 1"# }.joined(separator: ",")
        #expect(try differences("{}", "{\"lists\": {\(names)}}") == ["lists: added n0, n1, n2, n3, n4 and 2 more"])
    }

    @Test func aTextIsNoOtherValueOfTheSameLook() throws {
        for (old, new) in [("1", "\"1\""), ("[1,2]", "[12]"), ("[[],1]", "[[1]]"), ("null", "\"null\""), ("1", "1.0")] {
            #expect(
                try differences("{\"lists\": {\"a\": \(old)}}", "{\"lists\": {\"a\": \(new)}}") == ["lists: changed a"])
        }
    }
}
