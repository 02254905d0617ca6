import Testing

@testable import RelayCore

struct ObjectReaderTests {
    private func lines(_ text: String, _ read: (inout ObjectReader) -> Void) -> [String] {
        let problems = Problems()
        guard let node = ConfigurationParser.parse(Array(text.utf8), problems: problems),
            var reader = ObjectReader(node, problems)
        else { return problems.sorted.map { $0.line(file: "f") } }
        read(&reader)
        reader.finish(notYet: ["status"])
        return problems.sorted.map { $0.line(file: "f") }
    }

    @Test func whatIsNotTakenIsUnknown() {
        let told = lines(#"{"lmit": 1, "status": {}, "times": {}, "zzzzzz": 1, "_note": 1, "x-other": 1}"#) { reader in
            _ = reader.optional("limit")
            reader.refuse("times")
        }
        #expect(
            told == [
                #"f:1:2: lmit: unknown key "lmit"; did you mean "limit"?"#,
                #"f:1:13: status: "status" is not supported yet"#,
                #"f:1:27: times: "times" is not supported yet"#,
                #"f:1:40: zzzzzz: unknown key "zzzzzz""#,
            ])
    }

    @Test func wrongTypesAndRangesAreToldOfEachMember() {
        let told = lines(
            #"{"flag": "false", "time": "9 minutes", "short": "1ms", "number": 1.5, "text": 3, "big": 99999999999999999999}"#
        ) { reader in
            _ = reader.bool("flag", default: true)
            _ = reader.duration("time", default: .seconds(1), in: .seconds(1) ... .seconds(9))
            _ = reader.duration("short", default: .seconds(1), in: .seconds(1) ... .seconds(90))
            _ = reader.integer("number", default: 1, in: 1...9)
            _ = reader.integer("big", default: 1, in: 1...9)
            _ = reader.string("text")
            _ = reader.required("gone")
        }
        #expect(
            told == [
                #"f:1:1: the key "gone" is missing"#,
                "f:1:10: flag: expected true or false, found a string",
                #"f:1:27: time: "9 minutes" is no duration; write it like "90s", "15m", "1h30m" or "2d""#,
                "f:1:49: short: must be from 1s to 1m30s",
                "f:1:66: number: expected a whole number from 1 to 9, found 1.5",
                "f:1:79: text: expected a string, found a number",
                "f:1:89: big: expected a whole number from 1 to 9, found 99999999999999999999",
            ])
    }

    @Test func takeAllLeavesOutNotes() {
        var names: [String] = []
        let told = lines(#"{"b": 1, "_n": 2, "a": 3, "x-y": 4}"#) { names = $0.takeAll().map(\.key) }
        #expect(names == ["b", "a"])
        #expect(told.isEmpty)
    }

    @Test func problemsAreKeptUpToALimit() {
        let text = "{" + (0..<2000).map { "\"unknown\($0)\": 1" }.joined(separator: ",") + "}"
        let problems = Problems()
        guard let node = ConfigurationParser.parse(Array(text.utf8), problems: problems),
            let reader = ObjectReader(node, problems)
        else { return }
        reader.finish()
        #expect(problems.all.count == 1000)
        #expect(problems.omitted == 1000)
        #expect(problems.errorCount == 2000)
    }

    @Test(arguments: [
        (#""x""#, "1:1: a secret is not written here; name its place: "), ("{}", "1:1: a secret has exactly one of "),
        (#"{"env": "A", "file": "b"}"#, "1:1: a secret has exactly one of "),
        (#"{"env": ""}"#, "1:9: env: must not be empty"), (#"{"command": "ls"}"#, "1:1: \"command\" is a list of words"),
        (#"{"file": "a", "secure": true}"#, "1:15: secure: unknown key \"secure\"; did you mean \"insecure\"?"),
    ])
    func secretPlacesAreStrict(_ text: String, _ start: String) throws {
        let problems = Problems()
        let node = try #require(ConfigurationParser.parse(Array(text.utf8), problems: problems))
        let source = SecretSource.read(node, problems)
        #expect(problems.all.count == 1)
        #expect(problems.all.first?.line(file: "f").hasPrefix("f:\(start)") == true, "\(problems.all)")
        #expect(source == nil || text.contains("secure"))
    }
}
