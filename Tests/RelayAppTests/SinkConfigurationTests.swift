import RelayCore
import Testing

@testable import RelayApp

struct SinkConfigurationTests {
    private func read(_ sink: String) throws -> (sink: SinkConfiguration?, lines: [String]) {
        let problems = Problems()
        let node = try #require(ConfigurationParser.parse(Array(sink.utf8), problems: problems))
        let read = SinkConfiguration.read(name: "s", node: node, problems: problems)
        return (read, problems.sorted.map { "\($0.path): \($0.message)" })
    }

    @Test(arguments: [
        (#"{"type": "stdout"}"#, nil),
        (#"{"type": "stdout", "backlog": "digest"}"#, BacklogPolicy()),
        (#"{"type": "webhook", "url": "https://h.test"}"#, nil),
        (#"{"type": "webhook", "url": "https://h.test", "backlog": "each"}"#, nil),
        (#"{"type": "webhook", "url": "https://h.test", "backlog": "digest"}"#, BacklogPolicy()),
    ])
    func whatWaitsIsFoldedOnlyIfTheFileSaysSo(text: String, backlog: BacklogPolicy?) throws {
        let (sink, lines) = try read(text)
        #expect(lines == [] && sink?.backlog == backlog)
    }

    #if Desktop
        @Test(arguments: [
            (#"{"type": "desktop"}"#, BacklogPolicy(count: 5, age: .zero)),
            (#"{"type": "desktop", "backlog": "digest"}"#, BacklogPolicy(count: 5, age: .zero)),
            (#"{"type": "desktop", "backlog": "each"}"#, nil),
        ])
        func popupsAreFoldedUnlessTheFileSaysEach(text: String, backlog: BacklogPolicy?) throws {
            let (sink, lines) = try read(text)
            #expect(lines == [] && sink?.backlog == backlog)
        }
    #endif

    @Test func anotherBacklogIsAProblem() throws {
        let (_, lines) = try read(#"{"type": "stdout", "backlog": "digets"}"#)
        #expect(lines == [#"backlog: there is no backlog "digets"; did you mean "digest"?"#])
        #expect(
            try read(#"{"type": "stdout", "backlog": true}"#).lines == ["backlog: expected a string, found a boolean"])
    }
}
