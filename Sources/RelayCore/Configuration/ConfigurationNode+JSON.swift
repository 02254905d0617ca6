extension ConfigurationNode {
    /// The value as JSON on one line, with strings as a file would have them; without comments.
    package var json: String {
        var text = ""
        append(to: &text)
        return text
    }

    private func append(to text: inout String) {
        switch value {
        case .null: text += "null"
        case .bool(let flag): text += flag ? "true" : "false"
        case .number(let number): text += number
        case .string(let string): text += Self.quoted(string)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += ", " }
                element.append(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                text += (index > 0 ? ", " : "") + Self.quoted(member.key) + ": "
                member.value.append(to: &text)
            }
            text += "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        JSONText.append(text, to: &bytes)
        return "\"\(String(decoding: bytes, as: UTF8.self))\""
    }
}
