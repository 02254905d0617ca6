import FoundationEssentials
import RelayCore
import RelayStream
import RelayTestKit

/// A JSON value as Foundation decodes it.
enum DecodedJSON: Decodable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([DecodedJSON])
    case object([String: DecodedJSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let double = try? container.decode(Double.self) {
            self = .double(double)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let array = try? container.decode([DecodedJSON].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: DecodedJSON].self))
        }
    }

    /// Returns what lies at a path of keys and array indexes.
    func value(at path: [String]) -> DecodedJSON? {
        guard let key = path.first else { return self }
        switch self {
        case .object(let members): return members[key]?.value(at: Array(path.dropFirst()))
        case .array(let elements):
            guard let index = Int(key), elements.indices.contains(index) else { return nil }
            return elements[index].value(at: Array(path.dropFirst()))
        default: return nil
        }
    }
}

/// Documents that are made at random.
enum RandomJSON {
    static let keys = ["a", "b", "c", "0", "1", "x/y", "m~n", "é", "long key", ""]

    /// Returns an object, and the text of it with random white space and escapes.
    static func document(using generator: inout SeededGenerator) -> (text: [UInt8], paths: [[String]]) {
        var writer = Writer(generator: generator)
        writer.object(depth: 0, path: [])
        generator = writer.generator
        return (Array(writer.text.utf8), writer.paths)
    }

    private struct Writer {
        var generator: SeededGenerator
        var text = ""
        var paths: [[String]] = []

        mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

        mutating func space() { text += ["", "", "", " ", "\t", "  \r "][number(0..<6)] }

        mutating func value(depth: Int, path: [String]) {
            paths.append(path)
            space()
            switch number(0..<(depth < 5 ? 10 : 7)) {
            case 0: text += ["null", "true", "false"][number(0..<3)]
            case 1: text += String(Int64.random(in: .min ... .max, using: &generator))
            case 2: text += ["0", "-1.5", "2e3", "1E-2", "123.456"][number(0..<5)]
            case 3...6: string()
            case 7: array(depth: depth + 1, path: path)
            default: object(depth: depth + 1, path: path)
            }
            space()
        }

        mutating func string() {
            text += "\""
            for _ in 0..<number(0..<12) { text += Self.pieces[number(0..<Self.pieces.count)] }
            text += "\""
        }

        mutating func array(depth: Int, path: [String]) {
            text += "["
            for index in 0..<number(0..<4) {
                if index > 0 { text += "," }
                value(depth: depth, path: path + [String(index)])
            }
            text += text.hasSuffix("[") ? " ]" : "]"
        }

        mutating func object(depth: Int, path: [String]) {
            text += "{"
            for (index, key) in RandomJSON.keys.shuffled(using: &generator).prefix(number(0..<7)).enumerated() {
                if index > 0 { text += "," }
                space()
                // One key in four is written as escapes.
                if number(0..<4) == 0 {
                    text += "\"" + key.utf16.map { "\\u" + hex($0) }.joined() + "\""
                } else {
                    text += "\"\(key)\""
                }
                space()
                text += ":"
                value(depth: depth, path: path + [key])
            }
            text += "}"
        }

        private func hex(_ unit: UInt16) -> String {
            let digits = String(unit, radix: 16)
            return String(repeating: "0", count: 4 - digits.count) + digits
        }

        static let pieces = [
            "a", "Z", " ", "é", "😀", "\\n", "\\\"", "\\\\", "\\/", "{", "}", "[", ":", ",", "\\t", "0123456789abcdef",
        ]
    }

    /// Returns the pointer to a path.
    static func pointer(_ path: [String]) -> JSONPointer? {
        JSONPointer(
            path.map { key in
                "/" + key.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
            }.joined())
    }
}
