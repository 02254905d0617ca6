/// A value found in JSON text that is known to be valid, such as an event as it came.
package struct JSONLookup: Sendable, Equatable {
    /// What kind of value it is.
    package enum Kind: Sendable, Equatable {
        case string, number, bool, null, array, object
    }

    /// What kind of value it is.
    package let kind: Kind
    /// Where it lies in the text; of a string what is between the quotes.
    package let range: Range<Int>

    /// Finds what `pointer` points to (RFC 6901, section 4); nil if there is nothing.
    ///
    /// Of members with the same key the last counts, as for the decoder. The time is linear in the text, which is not copied; text that is
    /// no JSON does no harm.
    package static func find(_ pointer: JSONPointer, in text: RawSpan) -> JSONLookup? {
        var scanner = Scanner()
        for key in pointer.keys {
            guard scanner.enter(key, text) else { return nil }
        }
        return scanner.value(text)
    }

    /// Finds the elements of an array, at most `limit`, and whether there are more; nil if the value is no array.
    package func elements(in text: RawSpan, atMost limit: Int) -> (places: [Range<Int>], isCut: Bool)? {
        guard kind == .array else { return nil }
        var scanner = Scanner(at: range.lowerBound)
        return scanner.elements(text, atMost: limit)
    }

    /// Appends the value as text: a string without its escapes, a number, `true` or `false` as written.
    ///
    /// Of other values there is no text. Half a surrogate pair becomes U+FFFD.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    package func append(from text: RawSpan, to bytes: inout [UInt8]) -> Bool {
        switch kind {
        case .null, .array, .object: return false
        case .string: JSONEscapes.append(text.extracting(range), to: &bytes)
        case .number, .bool: text.extracting(range).withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
        return true
    }
}

/// A place in JSON text, moved without recursion: nesting costs a number, not a frame.
private struct Scanner {
    private var index: Int

    init(at index: Int = 0) {
        self.index = index
    }

    /// Goes from the container at the index to its member or element; false if it has none such.
    mutating func enter(_ key: [UInt8], _ text: RawSpan) -> Bool {
        skipBlank(text)
        switch byte(text) {
        case UInt8(ascii: "{"): return enterMember(key, text)
        case UInt8(ascii: "["): return Self.number(key).map { enterElement($0, text) } ?? false
        default: return false
        }
    }

    /// Goes to the last member with that key.
    private mutating func enterMember(_ key: [UInt8], _ text: RawSpan) -> Bool {
        index += 1
        skipBlank(text)
        var found: Int?
        while byte(text) == UInt8(ascii: "\"") {
            let name = string(text)
            skipBlank(text)
            guard byte(text) == UInt8(ascii: ":") else { break }
            index += 1
            skipBlank(text)
            if JSONEscapes.isEqual(text.extracting(name), key) { found = index }
            skipValue(text)
            guard goOn(text) else { break }
        }
        index = found ?? index
        return found != nil
    }

    private mutating func enterElement(_ number: Int, _ text: RawSpan) -> Bool {
        index += 1
        skipBlank(text)
        guard byte(text) != UInt8(ascii: "]") else { return false }
        for _ in 0..<number {
            skipValue(text)
            guard goOn(text) else { return false }
        }
        return true
    }

    /// Steps over the array at the index and returns where its first elements are, and whether it has more.
    mutating func elements(_ text: RawSpan, atMost limit: Int) -> (places: [Range<Int>], isCut: Bool) {
        var places: [Range<Int>] = []
        index += 1
        skipBlank(text)
        while index < text.byteCount, byte(text) != UInt8(ascii: "]") {
            guard places.count < limit else { return (places, true) }
            let start = index
            skipValue(text)
            places.append(start..<index)
            guard goOn(text) else { break }
        }
        return (places, false)
    }

    /// Steps over a comma; false if the container ends.
    private mutating func goOn(_ text: RawSpan) -> Bool {
        skipBlank(text)
        guard byte(text) == UInt8(ascii: ",") else { return false }
        index += 1
        skipBlank(text)
        return index < text.byteCount
    }

    /// Returns the value at the index.
    mutating func value(_ text: RawSpan) -> JSONLookup? {
        skipBlank(text)
        let start = index
        let kind: JSONLookup.Kind
        switch byte(text) {
        case UInt8(ascii: "\""): return JSONLookup(kind: .string, range: string(text))
        case UInt8(ascii: "{"): kind = .object
        case UInt8(ascii: "["): kind = .array
        case UInt8(ascii: "n"): kind = .null
        case UInt8(ascii: "t"), UInt8(ascii: "f"): kind = .bool
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): kind = .number
        default: return nil
        }
        skipValue(text)
        return JSONLookup(kind: kind, range: start..<index)
    }

    private func byte(_ text: RawSpan) -> UInt8 { index < text.byteCount ? text.byte(index) : 0 }

    /// Steps over the string at the index and returns what is between its quotes.
    private mutating func string(_ text: RawSpan) -> Range<Int> {
        index += 1
        let start = index
        while index < text.byteCount {
            switch text.byte(index) {
            case UInt8(ascii: "\""):
                index += 1
                return start..<(index - 1)
            case UInt8(ascii: "\\"): index += 2
            default: index += 1
            }
        }
        index = text.byteCount
        return min(start, index)..<index
    }

    private mutating func skipValue(_ text: RawSpan) {
        var depth = 0
        repeat {
            switch byte(text) {
            case UInt8(ascii: "\""): _ = string(text)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                index += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"): index += 1
            case 0: return
            default: skipWord(text)
            }
            if depth > 0 { skipBlank(text) }
        } while depth > 0 && index < text.byteCount
    }

    /// Steps over a number or a bare word, and over a byte in any case.
    private mutating func skipWord(_ text: RawSpan) {
        index += 1
        while index < text.byteCount {
            switch text.byte(index) {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ":"), 0...0x20: return
            default: index += 1
            }
        }
    }

    private mutating func skipBlank(_ text: RawSpan) {
        while index < text.byteCount, text.byte(index) <= 0x20 { index += 1 }
    }

    /// The number that an array index names, without leading zeros (RFC 6901, section 4).
    private static func number(_ key: [UInt8]) -> Int? {
        guard !key.isEmpty, key.count <= 9, key.count == 1 || key[0] != UInt8(ascii: "0") else { return nil }
        var number = 0
        for byte in key {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return number
    }
}

/// The escapes of JSON strings (RFC 8259, section 7), read from strings that are known to be valid.
enum JSONEscapes {
    /// Appends what is between the quotes of a string, without its escapes.
    static func append(_ string: RawSpan, to bytes: inout [UInt8]) {
        var index = 0
        while index < string.byteCount {
            let byte = string.byte(index)
            index += 1
            guard byte == UInt8(ascii: "\\"), index < string.byteCount else {
                bytes.append(byte)
                continue
            }
            let letter = string.byte(index)
            index += 1
            switch letter {
            case UInt8(ascii: "b"): bytes.append(0x08)
            case UInt8(ascii: "f"): bytes.append(0x0C)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "u"): appendScalar(string, &index, to: &bytes)
            default: bytes.append(letter)
            }
        }
    }

    /// Whether what is between the quotes is `text` once its escapes are resolved.
    static func isEqual(_ string: RawSpan, _ text: [UInt8]) -> Bool {
        if string.byteCount == text.count {
            for index in 0..<text.count where string.byte(index) != text[index] { return false }
            // Equal bytes with a backslash in them are equal only if nothing was escaped.
            return !text.contains(UInt8(ascii: "\\")) || resolved(string) == text
        }
        guard string.byteCount > text.count, hasEscape(string) else { return false }
        return resolved(string) == text
    }

    private static func hasEscape(_ string: RawSpan) -> Bool {
        for index in 0..<string.byteCount where string.byte(index) == UInt8(ascii: "\\") { return true }
        return false
    }

    private static func resolved(_ string: RawSpan) -> [UInt8] {
        var bytes: [UInt8] = []
        append(string, to: &bytes)
        return bytes
    }

    /// Appends the scalar whose four digits, and perhaps those of a second half, begin at the index.
    private static func appendScalar(_ string: RawSpan, _ index: inout Int, to bytes: inout [UInt8]) {
        var value = digits(string, &index)
        if value & 0xFC00 == 0xD800, index + 6 <= string.byteCount, string.byte(index) == UInt8(ascii: "\\"),
            string.byte(index + 1) == UInt8(ascii: "u")
        {
            var after = index + 2
            let second = digits(string, &after)
            if second & 0xFC00 == 0xDC00 {
                value = 0x1_0000 + (value & 0x3FF) << 10 + second & 0x3FF
                index = after
            }
        }
        let scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
        bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    private static func digits(_ string: RawSpan, _ index: inout Int) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 where index < string.byteCount {
            value = value << 4 | UInt32(Character(Unicode.Scalar(string.byte(index))).hexDigitValue ?? 0)
            index += 1
        }
        return value
    }
}
