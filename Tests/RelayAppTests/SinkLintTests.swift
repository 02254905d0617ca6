import RelayCore
import Testing

@testable import RelayApp

/// What `check` warns of in sinks.
struct SinkLintTests {
    private func lines(_ sinks: String, to: String = #""out""#) -> [String] {
        let problems = Problems()
        let text = #"""
            {"streams": {"s": {"url": "wss://a.example/"}}, "rules": [{"name": "r", "to": [\#(to)]}],
            "sinks": {\#(sinks)}}
            """#
        #expect(RelayConfiguration.read(Array(text.utf8), problems: problems) != nil)
        return problems.sorted.map { $0.line(file: "f") }
    }

    @Test func aSinkThatNobodyUsesIsTold() {
        let hook = #""hook": {"type": "webhook", "url": "https://a.example/"}"#
        #expect(
            lines(#""out": {"type": "stdout", "durable": true}, \#(hook)"#)
                == [#"f:2:55: warning: sinks.hook: no rule uses the sink "hook""#])
        #expect(lines(#""out": {"type": "stdout", "durable": true}, \#(hook)"#, to: #""out", "hook""#) == [])
    }

    @Test(arguments: [
        ("", false, false), (#", "whenFull": "drop""#, false, true), (#", "whenFull": "wait""#, true, false),
        ("", true, true),
    ])
    func linesThatCanBeLostAreTold(_ keys: String, _ hasOther: Bool, _ drops: Bool) {
        let other = hasOther ? #", "hook": {"type": "webhook", "url": "https://a.example/"}"# : ""
        let full = drops ? ", and the newest when its reader is slow" : ""
        #expect(
            lines("\"out\": {\"type\": \"stdout\"\(keys)}\(other)", to: hasOther ? #""out", "hook""# : #""out""#) == [
                "f:2:11: warning: sinks.out: can lose lines: those not yet written when the process is killed, "
                    + "as no stream catches up\(full); \"durable\": true keeps them"
            ])
    }
}
