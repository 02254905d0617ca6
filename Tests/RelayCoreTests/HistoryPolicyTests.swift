import RelayCore
import Testing

/// `history` of the rules file.
struct HistoryPolicyTests {
    private func read(_ text: String) throws -> (policy: HistoryPolicy, lines: [String]) {
        let problems = Problems()
        let node = try #require(ConfigurationParser.parse(Array(text.utf8), problems: problems))
        let policy = HistoryPolicy.read(node, problems: problems)
        return (policy, problems.all.map { $0.line(file: "f") })
    }

    @Test func whatIsNotGivenIsTheDefault() throws {
        let (policy, lines) = try read("{}")
        #expect(policy == HistoryPolicy(keep: .seconds(604_800), most: 200_000_000, all: false) && lines == [])
    }

    @Test(arguments: [
        (
            #"{"keep": "30d", "max": "1GB", "all": true}"#,
            HistoryPolicy(keep: .seconds(2_592_000), most: 1_000_000_000, all: true)
        ),
        (#"{"keep": "0"}"#, HistoryPolicy(keep: .zero)), (#"{"keep": "0s"}"#, HistoryPolicy(keep: .zero)),
    ])
    func whatIsGivenHolds(_ text: String, _ expected: HistoryPolicy) throws {
        let (policy, lines) = try read(text)
        #expect(policy == expected && lines == [])
    }

    @Test(arguments: [
        (#"{"keep": 7}"#, #"f:1:10: keep: expected a duration such as "90s" or "1h30m", found a number"#),
        (#"{"max": "200"}"#, #"f:1:9: max: "200" is no size; write it like "64kB", "200MB" or "1GB""#),
        (#"{"max": "1MiB"}"#, #"f:1:9: max: "1MiB" is no size; write it like "64kB", "200MB" or "1GB""#),
        (
            #"{"max": "99999999999999999999GB"}"#,
            #"f:1:9: max: "99999999999999999999GB" is no size; write it like "64kB", "200MB" or "1GB""#
        ),
        (#"{"max": "1B"}"#, "f:1:9: max: must be from 1MB to 1000GB"),
        (#"{"kep": "7d"}"#, #"f:1:2: kep: unknown key "kep"; did you mean "keep"?"#),
    ])
    func mistakesAreTold(_ text: String, _ line: String) throws {
        #expect(try read(text).lines == [line])
    }

    @Test(arguments: [0, 1, 999, 1000, 64_000, 200_000_000, 1_000_000_000, 1_500_000_000])
    func sizesAreReadAsTheyAreWritten(_ bytes: Int) {
        #expect(SizeText.parse(SizeText.format(bytes)) == bytes)
    }
}
