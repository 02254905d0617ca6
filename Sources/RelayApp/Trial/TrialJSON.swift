internal import GLibRuntime
internal import RelayCore
internal import RelaySinks

/// A try as JSON, a line a step.
@MainLoop
final class TrialJSON: TrialReport {
    private let names: TrialNames
    private let output: OutputBlock

    /// Creates a report that is written to `output`.
    init(_ names: TrialNames, output: OutputBlock) {
        self.names = names
        self.output = output
    }

    func decided(_ event: Event, _ outcomes: [EffectOutcome], at instant: Instant) {
        for outcome in outcomes where names.shows(names.sink(outcome.effect)) {
            let (word, reason) = outcome.acceptance.words
            decision(event, names.rule(outcome.effect), names.sink(outcome.effect), word, reason, instant)
        }
    }

    func repeated(_ event: Event, at instant: Instant) {
        guard names.shows("-") else { return }
        decision(event, "", "-", "suppress", Receipt.duplicate.rawValue, instant)
    }

    func delivered(_ delivery: Delivery, at instant: Instant) {
        guard names.shows(delivery.sink) else { return }
        begin("delivery", instant)
        append("sink", delivery.sink)
        output.bytes.append(contentsOf: #","notice":"#.utf8)
        NoticeLine.append(delivery, to: &output.bytes)
        output.bytes.append(contentsOf: "}\n".utf8)
        output.writeIfLarge()
    }

    /// The events of a digest are many: `count` says how many effects end here, and `event` is null.
    func limited(_ count: ReceiptCount, at instant: Instant) {
        guard names.shows(count.sink) else { return }
        begin("decision", instant)
        output.bytes.append(contentsOf: #","event":null"#.utf8)
        append("rule", count.rule)
        append("sink", count.sink)
        append("outcome", "suppress")
        append("reason", count.receipt.rawValue)
        output.bytes.append(contentsOf: ",\"count\":\(count.count)}\n".utf8)
        output.writeIfLarge()
    }

    private func decision(
        _ event: Event, _ rule: String, _ sink: String, _ outcome: String, _ reason: String, _ instant: Instant
    ) {
        begin("decision", instant)
        output.bytes.append(contentsOf: #","event":""#.utf8)
        event.withBytes(of: event.record.id) { JSONText.append($0, to: &output.bytes) }
        output.bytes.append(UInt8(ascii: "\""))
        append("rule", rule)
        append("sink", sink)
        append("outcome", outcome)
        append("reason", reason)
        output.bytes.append(contentsOf: "}\n".utf8)
        output.writeIfLarge()
    }

    private func begin(_ type: StaticString, _ instant: Instant) {
        output.bytes.append(contentsOf: #"{"type":""#.utf8)
        type.withUTF8Buffer { output.bytes.append(contentsOf: $0) }
        output.bytes.append(contentsOf: #"","at":""#.utf8)
        TimestampText.append(instant, to: &output.bytes)
        output.bytes.append(UInt8(ascii: "\""))
    }

    private func append(_ name: StaticString, _ value: String) {
        output.bytes.append(contentsOf: ",\"".utf8)
        name.withUTF8Buffer { output.bytes.append(contentsOf: $0) }
        output.bytes.append(contentsOf: "\":\"".utf8)
        JSONText.append(value, to: &output.bytes)
        output.bytes.append(UInt8(ascii: "\""))
    }
}
