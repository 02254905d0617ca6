/// Reads a configuration file: JSON (RFC 8259) with comments and trailing commas, keeping line and column.
///
/// Of JSON5 it takes `//` and `/* */` comments and a comma after the last element, and nothing else. Any bytes are
/// safe: the time is linear in their number, and size, nesting and the number of values are bounded.
package struct ConfigurationParser {
    /// The largest file that is read.
    package static let largestFile = 16 << 20
    /// The deepest nesting of objects and arrays; recursion stays far from the end of the stack.
    package static let deepestNesting = 64
    /// The largest number of values, which bounds the memory that a file of 16 MiB can take.
    package static let mostValues = 1_000_000

    /// Why the text is no JSON. The first one ends the reading.
    struct Fault: Error {
        var position: Position
        var message: String
    }

    let bytes: [UInt8]
    var index = 0
    private let problems: Problems
    private var places: PlaceCounter
    private var values = 0

    /// Parses the bytes of a file.
    ///
    /// - Returns: the value at the top, or nil after a syntax error. Doubled keys are reported and the first one of
    ///   them is kept.
    package static func parse(_ bytes: [UInt8], problems: Problems) -> ConfigurationNode? {
        do throws(Fault) {
            var parser = try ConfigurationParser(checking: bytes, problems)
            return try parser.document()
        } catch {
            problems.add(Problem(.error, at: error.position, path: "", message: error.message))
            return nil
        }
    }

    private init(checking bytes: [UInt8], _ problems: Problems) throws(Fault) {
        self.bytes = bytes
        self.problems = problems
        places = PlaceCounter()
        if bytes.count > Self.largestFile {
            throw Fault(position: Position(line: 1, column: 1), message: "the file is larger than 16 MiB")
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            index = 3
            places = PlaceCounter(from: 3)
        } else if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw Fault(position: Position(line: 1, column: 1), message: "the file is UTF-16; save it as UTF-8")
        }
        var invalid: Int?
        do { _ = try UTF8Span(validating: bytes.span) } catch { invalid = error.byteOffsets.lowerBound }
        if let invalid { throw fault(at: invalid, "the bytes from here on are not UTF-8; save the file as UTF-8") }
    }

    private mutating func document() throws(Fault) -> ConfigurationNode {
        try skipBlank()
        if index == bytes.count { throw fault("the file is empty; it should hold one object { ... }") }
        let node = try value(at: ConfigurationPath(root: ""), depth: 0)
        try skipBlank()
        if index < bytes.count { throw fault("found \(found) after the end of the file's value") }
        return node
    }

    private mutating func value(at path: ConfigurationPath, depth: Int) throws(Fault) -> ConfigurationNode {
        values += 1
        if values > Self.mostValues { throw fault("the file has more than \(Self.mostValues) values") }
        let start = index
        let position = place(of: start)
        let value: ConfigurationNode.Value
        switch peek {
        case UInt8(ascii: "{"): value = try object(path, depth, openedAt: position)
        case UInt8(ascii: "["): value = try array(path, depth, openedAt: position)
        case UInt8(ascii: "\""): value = .string(try string(openedAt: position))
        case UInt8(ascii: "'"): throw fault("a string is written in double quotes")
        case let byte? where isWordByte(byte): value = try word()
        default: throw fault("expected a value, found \(found)")
        }
        return ConfigurationNode(value, at: position, path: path)
    }

    private mutating func object(
        _ path: ConfigurationPath, _ depth: Int, openedAt opened: Position
    ) throws(Fault) -> ConfigurationNode.Value {
        try enter(depth)
        var members: [ConfigurationNode.Member] = []
        var seen: [String: Position] = [:]
        while try another(after: seen.isEmpty, closing: UInt8(ascii: "}"), "object", opened) {
            let position = place(of: index)
            let key = try self.key(openedAt: position)
            let value = try self.value(at: ConfigurationPath(key: key, in: path), depth: depth + 1)
            if let first = seen.updateValue(position, forKey: key) {
                seen[key] = first
                let shown = Shown.quoted(key)
                problems.add(
                    Problem(
                        .error, at: position, path: ConfigurationPath(key: key, in: path).text,
                        message: "the key \(shown) stands twice: here and at \(first.line):\(first.column)"))
            } else {
                members.append(ConfigurationNode.Member(key: key, keyPosition: position, value: value))
            }
        }
        return .object(members)
    }

    private mutating func key(openedAt position: Position) throws(Fault) -> String {
        guard peek == UInt8(ascii: "\"") else {
            if let byte = peek, isWordByte(byte) || byte == UInt8(ascii: "'") {
                throw fault("a key is written in double quotes")
            }
            throw fault("expected a key in double quotes, found \(found)")
        }
        let key = try string(openedAt: position)
        try skipBlank()
        guard peek == UInt8(ascii: ":") else {
            throw fault("expected \":\" after the key \(Shown.quoted(key)), found \(found)")
        }
        index += 1
        try skipBlank()
        return key
    }

    private mutating func array(
        _ path: ConfigurationPath, _ depth: Int, openedAt opened: Position
    ) throws(Fault) -> ConfigurationNode.Value {
        try enter(depth)
        var elements: [ConfigurationNode] = []
        while try another(after: elements.isEmpty, closing: UInt8(ascii: "]"), "array", opened) {
            elements.append(try value(at: ConfigurationPath(index: elements.count, in: path), depth: depth + 1))
        }
        return .array(elements)
    }

    /// Steps over an opening bracket.
    private mutating func enter(_ depth: Int) throws(Fault) {
        if depth >= Self.deepestNesting { throw fault("nested deeper than \(Self.deepestNesting) levels") }
        index += 1
    }

    /// Steps over blanks and the comma between elements; returns whether another element follows, or the end.
    private mutating func another(
        after isFirst: Bool, closing: UInt8, _ kind: String, _ opened: Position
    ) throws(Fault) -> Bool {
        try skipBlank()
        if !isFirst, peek == UInt8(ascii: ",") {
            index += 1
            try skipBlank()
            if peek == UInt8(ascii: ",") { throw fault("two commas without a value between them") }
        } else if !isFirst, let byte = peek, byte == UInt8(ascii: "\"") || isWordByte(byte) || isOpening(byte) {
            throw fault("a comma is missing before \(found)")
        }
        let end = Character(Unicode.Scalar(closing))
        let opening = "the \(kind) opened at \(opened.line):\(opened.column)"
        guard let byte = peek else { throw fault("\(opening) is not closed; a \"\(end)\" is missing") }
        if byte == closing {
            index += 1
            return false
        }
        if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
            throw fault("\(opening) is closed by \"\(end)\", found \(found)")
        }
        return true
    }

    /// Steps over white space and comments.
    private mutating func skipBlank() throws(Fault) {
        while let byte = peek {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): index += 1
            case UInt8(ascii: "/"): try skipComment()
            case UInt8(ascii: "#"): throw fault("a comment begins with \"//\"")
            default: return
            }
        }
    }

    private mutating func skipComment() throws(Fault) {
        let start = index
        switch index + 1 < bytes.count ? bytes[index + 1] : 0 {
        case UInt8(ascii: "/"):
            while let byte = peek, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") { index += 1 }
        case UInt8(ascii: "*"):
            index += 2
            while index + 1 < bytes.count {
                if bytes[index] == UInt8(ascii: "*"), bytes[index + 1] == UInt8(ascii: "/") {
                    index += 2
                    return
                }
                index += 1
            }
            throw fault(at: start, "the comment that begins here is not closed; a \"*/\" is missing")
        default:
            throw fault("expected a comment, \"//\" or \"/*\", found a single \"/\"")
        }
    }
}

extension ConfigurationParser {
    /// The next byte, or nil at the end.
    var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// What stands at the index, in words for a message.
    var found: String {
        guard let byte = peek else { return "the end of the file" }
        if isWordByte(byte) {
            let word = bytes[index...].prefix(40).prefix(while: isWordByte)
            return "\"\(String(decoding: word, as: UTF8.self))\""
        }
        if byte == UInt8(ascii: "\"") { return "a string" }
        let scalar = String(decoding: bytes[index...].prefix(4), as: UTF8.self).unicodeScalars.first
        return Shown.quoted(scalar.map { String($0) } ?? "")
    }

    /// Returns the place of the byte at `index`. Cheap when called for rising indices.
    mutating func place(of index: Int) -> Position { places.position(of: index, in: bytes) }

    /// Returns a fault at the index, or at an earlier byte.
    mutating func fault(at place: Int? = nil, _ message: String) -> Fault {
        Fault(position: self.place(of: place ?? index), message: message)
    }

    private func isOpening(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") }
}
