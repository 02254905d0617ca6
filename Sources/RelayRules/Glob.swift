/// A pattern in which `*` stands for any text and `?` for one character (Unicode scalar).
///
/// Matching goes back to the last star only, so its time is at most the length of the text times that of the pattern.
struct Glob: Sendable, Hashable {
    /// The length of text that a glob sees; a longer one is matched by its beginning.
    static let longestText = 16 << 10

    private enum Token {
        static let any: UInt16 = 256
        static let star: UInt16 = 257
    }

    private let tokens: [UInt16]

    /// Whether a value is a glob rather than a literal.
    static func isGlob(_ text: String) -> Bool {
        text.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
    }

    /// Whether it matches every text.
    var matchesAnything: Bool { tokens == [Token.star] }

    /// Creates a glob from text in the form in which it is compared.
    init(_ text: [UInt8]) {
        var tokens: [UInt16] = []
        for byte in text {
            switch byte {
            case UInt8(ascii: "*"): if tokens.last != Token.star { tokens.append(Token.star) }
            case UInt8(ascii: "?"): tokens.append(Token.any)
            default: tokens.append(UInt16(byte))
            }
        }
        self.tokens = tokens
    }

    /// Whether the glob matches all of `text`, whose ASCII capitals are made small first if `folding`.
    func matches(_ text: RawSpan, folding: Bool) -> Bool {
        let count = Self.visibleCount(text)
        guard endMatches(text, count, folding) else { return false }
        var token = 0
        var index = 0
        var star: (token: Int, index: Int)?
        while index < count {
            let next = token < tokens.count ? tokens[token] : 0
            let byte = text.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            if next == Token.star {
                star = (token, index)
                token += 1
            } else if next == Token.any {
                index = Self.scalarEnd(index, byte, count)
                token += 1
            } else if token < tokens.count, next == UInt16(folding ? Self.lowered(byte) : byte) {
                index += 1
                token += 1
            } else if let last = star {
                let lead = text.unsafeLoad(fromByteOffset: last.index, as: UInt8.self)
                index = Self.scalarEnd(last.index, lead, count)
                star = (last.token, index)
                token = last.token + 1
            } else {
                return false
            }
        }
        return token == tokens.count || (token == tokens.count - 1 && tokens[token] == Token.star)
    }

    /// Whether the last byte can match: a look that spares the search for most texts and globs such as `*_bot`.
    private func endMatches(_ text: RawSpan, _ count: Int, _ folding: Bool) -> Bool {
        guard let last = tokens.last, last < Token.any else { return true }
        guard count > 0 else { return false }
        let byte = text.unsafeLoad(fromByteOffset: count - 1, as: UInt8.self)
        return last == UInt16(folding ? Self.lowered(byte) : byte)
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Returns the index after the scalar whose first byte is `lead`.
    private static func scalarEnd(_ index: Int, _ lead: UInt8, _ count: Int) -> Int {
        let length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
        return min(index + length, count)
    }

    /// Returns how many bytes are looked at, cut on the border of a scalar.
    private static func visibleCount(_ text: RawSpan) -> Int {
        guard text.byteCount > longestText else { return text.byteCount }
        var count = longestText
        while count > 0, text.unsafeLoad(fromByteOffset: count, as: UInt8.self) & 0xC0 == 0x80 { count -= 1 }
        return count
    }
}
