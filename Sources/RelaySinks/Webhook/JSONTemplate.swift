package import RelayCore

/// A JSON value whose strings hold placeholders.
///
/// What a placeholder stands for is always encoded as a part of a JSON string, so that no text can leave it. A
/// value that an event does not have is an empty text; of a string that is one placeholder and nothing else it makes
/// `null`.
package indirect enum JSONTemplate: Sendable {
    case null
    case bool(Bool)
    /// A number as written.
    case number(String)
    case string(Template)
    case array([JSONTemplate])
    case object([(key: String, value: JSONTemplate)])

    /// How much of a body the file may fix: half of what a webhook takes, so that shortened texts always fit.
    static let maxFixedBytes = 32 * 1024
    /// How many placeholders a body may have, for the same reason.
    static let maxPlaceholders = 64

    /// Reads the template, or reports what is wrong and returns nil.
    package static func read(_ node: ConfigurationNode, _ problems: Problems) -> JSONTemplate? {
        guard let template = value(node, problems) else { return nil }
        let withoutTexts = template.rendered { _ in nil }
        if withoutTexts.count > maxFixedBytes {
            problems.add(at: node, "is longer than \(maxFixedBytes / 1024) KiB")
        }
        if template.placeholderCount > maxPlaceholders {
            problems.add(at: node, "has more than \(maxPlaceholders) placeholders")
        }
        return template
    }

    private static func value(_ node: ConfigurationNode, _ problems: Problems) -> JSONTemplate? {
        switch node.value {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .number(let text): return .number(text)
        case .string: return Template.read(node, allowed: Placeholder.allCases, problems).map { .string($0) }
        case .array(let nodes):
            let values = nodes.compactMap { value($0, problems) }
            return values.count == nodes.count ? .array(values) : nil
        case .object(let members):
            let values = members.compactMap { member in value(member.value, problems).map { (member.key, $0) } }
            return values.count == members.count ? .object(values) : nil
        }
    }

    /// Returns the JSON text; `text` gives what a placeholder stands for.
    package func rendered(_ text: (Template.Part) -> [UInt8]?) -> [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes, text)
        return bytes
    }

    private func append(to bytes: inout [UInt8], _ text: (Template.Part) -> [UInt8]?) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .number(let number): bytes.append(contentsOf: number.utf8)
        case .string(let template): Self.append(template, to: &bytes, text)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes, text)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                bytes.append(contentsOf: index > 0 ? ",\"".utf8 : "\"".utf8)
                JSONText.append(member.key, to: &bytes)
                bytes.append(contentsOf: "\":".utf8)
                member.value.append(to: &bytes, text)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ template: Template, to bytes: inout [UInt8], _ text: (Template.Part) -> [UInt8]?) {
        if template.parts.count == 1, template.hasPlaceholders, text(template.parts[0]) == nil {
            bytes.append(contentsOf: "null".utf8)
            return
        }
        bytes.append(UInt8(ascii: "\""))
        for part in template.parts {
            switch part {
            case .literal(let literal): JSONText.append(literal, to: &bytes)
            case .placeholder, .field: JSONText.append(text(part) ?? [], to: &bytes)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private var placeholderCount: Int {
        switch self {
        case .null, .bool, .number: 0
        case .string(let template): template.parts.count { if case .literal = $0 { false } else { true } }
        case .array(let values): values.reduce(0) { $0 + $1.placeholderCount }
        case .object(let members): members.reduce(0) { $0 + $1.value.placeholderCount }
        }
    }
}
