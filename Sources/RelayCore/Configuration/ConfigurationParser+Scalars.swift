extension ConfigurationParser {
    /// Reads a string, whose opening quote is at the index.
    mutating func string(openedAt opened: Position) throws(Fault) -> String {
        index += 1
        var text: [UInt8] = []
        var start = index
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                text += bytes[start..<index]
                index += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                text += bytes[start..<index]
                try escape(into: &text)
                start = index
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                throw Fault(
                    position: opened, message: "the string that begins here is not closed on its line; a '\"' is missing")
            case 0..<0x20:
                throw fault("a control character in a string; write \(Self.escaped(byte))")
            default:
                index += 1
            }
        }
        throw Fault(position: opened, message: "the string that begins here is not closed; a '\"' is missing")
    }

    /// Reads an escape, whose backslash is at the index.
    private mutating func escape(into text: inout [UInt8]) throws(Fault) {
        let start = index
        index += 1
        guard let byte = peek else { throw fault(at: start, "an escape without its character") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text += UTF8.encode(try escapedScalar(from: start)).map { Array($0) } ?? []
        default:
            index = start
            throw fault("an unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four digits")
        }
    }

    /// Reads the digits of `\uXXXX`, and of the second half of a surrogate pair (RFC 8259, section 7).
    private mutating func escapedScalar(from start: Int) throws(Fault) -> Unicode.Scalar {
        var value = try fourDigits(from: start)
        if value & 0xFC00 == 0xD800, peek == UInt8(ascii: "\\"), index + 1 < bytes.count,
            bytes[index + 1] == UInt8(ascii: "u")
        {
            index += 2
            let second = try fourDigits(from: index - 2)
            if second & 0xFC00 == 0xDC00 { value = 0x1_0000 + (value & 0x3FF) << 10 + second & 0x3FF }
        }
        guard let scalar = Unicode.Scalar(value) else {
            throw fault(at: start, "half of a surrogate pair; write both halves, or the character itself")
        }
        return scalar
    }

    private mutating func fourDigits(from start: Int) throws(Fault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = peek.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw fault(at: start, "\\u is followed by four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }

    /// Reads `true`, `false`, `null` or a number.
    mutating func word() throws(Fault) -> ConfigurationNode.Value {
        let start = index
        while let byte = peek, isWordByte(byte) { index += 1 }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        switch text {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default: break
        }
        if Self.isNumber(bytes[start..<index]) { return .number(text) }
        let shown = Shown.quoted(text)
        if text.utf8.contains(where: { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            throw fault(at: start, "\(shown) is no JSON number; a text is written in double quotes")
        }
        let suggestion = NearestName.suggestion(for: text, among: ["true", "false", "null"])
        throw fault(at: start, "unknown word \(shown)\(suggestion)")
    }

    /// Whether a byte belongs to a number or a bare word.
    func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "$"):
            true
        default: false
        }
    }

    /// Whether the text is a number by the grammar of RFC 8259, section 6.
    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        func digits() -> Int {
            let count = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
            rest = rest.dropFirst(count)
            return count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let hasLeadingZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole == 1 || (whole > 1 && !hasLeadingZero) else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() > 0 else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }

    private static func escaped(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
