internal import RelayCore

/// A JSON value to be written, with the members of objects in their order.
enum JSONValue: Sendable, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
    case null
    case bool(Bool)
    case number(Int)
    case string(String)
    case array([JSONValue])
    case object([(name: String, value: JSONValue)])
    /// A value that is written already.
    case written([UInt8])

    init(stringLiteral text: String) { self = .string(text) }
    init(booleanLiteral flag: Bool) { self = .bool(flag) }
    init(integerLiteral number: Int) { self = .number(number) }

    /// A text, or null.
    static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    /// An instant in RFC 3339, or null.
    static func time(_ instant: Instant?) -> JSONValue { optional(instant.map(TimestampText.format)) }

    /// The value in one line, without a newline.
    var line: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .number(let number): bytes.append(contentsOf: String(number).utf8)
        case .string(let text): Self.append(text, to: &bytes)
        case .written(let text): bytes.append(contentsOf: text)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (place, value) in values.enumerated() {
                if place > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (place, member) in members.enumerated() {
                if place > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.append(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        JSONText.append(text, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }
}
