internal import RelayCore
internal import RelayRules

/// The trace of an event as JSON: a line a rule.
enum TraceJSON {
    /// Appends the line of a rule.
    static func append(_ step: Trace.Step, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: #"{"type":"rule","rule":"#.utf8)
        append(step.rule, to: &bytes)
        bytes.append(contentsOf: ",\"reached\":\(step.isReached),\"holds\":\(step.holds)".utf8)
        bytes.append(contentsOf: ",\"drop\":\(step.isDrop),\"continue\":\(step.isContinued),\"condition\":".utf8)
        if let condition = step.condition { append(condition, to: &bytes) } else { append(nil, to: &bytes) }
        bytes.append(contentsOf: ",\"to\":".utf8)
        append(step.targets, to: &bytes) { target, bytes in
            bytes.append(contentsOf: "{\"sink\":".utf8)
            append(target.sink, to: &bytes)
            bytes.append(contentsOf: ",\"takenBy\":".utf8)
            append(target.takenBy, to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(contentsOf: ",\"policies\":".utf8)
        append(step.policies, to: &bytes) { append($0, to: &$1) }
        bytes.append(contentsOf: "}\n".utf8)
    }

    private static func append(_ condition: Trace.Condition, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "{\"text\":".utf8)
        append(condition.text, to: &bytes)
        bytes.append(contentsOf: ",\"holds\":\(condition.holds),\"seen\":".utf8)
        append(condition.seen, to: &bytes)
        bytes.append(contentsOf: ",\"parts\":".utf8)
        append(condition.parts, to: &bytes) { append($0, to: &$1) }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func append<Element>(
        _ elements: [Element], to bytes: inout [UInt8], each: (Element, inout [UInt8]) -> Void
    ) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            each(element, &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private static func append(_ text: String?, to bytes: inout [UInt8]) {
        guard let text else { return bytes.append(contentsOf: "null".utf8) }
        bytes.append(UInt8(ascii: "\""))
        JSONText.append(text, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }
}
