/// A JSON Pointer (RFC 6901) that is well formed.
package struct JSONPointer: Sendable, Hashable {
    /// The pointer as written: empty for the whole, else keys each after a `/`, with `~1` for `/` and `~0` for `~`.
    package let text: String
    /// The keys on the way, in UTF-8 and without escapes.
    package let keys: [[UInt8]]

    /// Creates a pointer, or returns nil if `text` is none.
    package init?(_ text: String) {
        guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else { return nil }
        var rest = text.utf8[...]
        while let tilde = rest.firstIndex(of: UInt8(ascii: "~")) {
            rest = rest[tilde...].dropFirst()
            guard rest.first == UInt8(ascii: "0") || rest.first == UInt8(ascii: "1") else { return nil }
        }
        self.init(unchecked: text)
    }

    /// Creates the pointer to the member `key` of the top.
    package init(key: String) {
        var text = "/"
        for character in key {
            switch character {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.append(character)
            }
        }
        self.init(unchecked: text)
    }

    /// The pointer to the whole.
    package static let whole = JSONPointer(unchecked: "")

    /// Whether this points into what `other` points to, or to that itself.
    package func isWithin(_ other: JSONPointer) -> Bool {
        text == other.text || text.hasPrefix(other.text + "/")
    }

    private init(unchecked text: String) {
        self.text = text
        keys = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
            .map(Self.unescaped)
    }

    private static func unescaped(_ key: Substring.UTF8View) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = key
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "~"), let digit = rest.popFirst() {
                bytes.append(digit == UInt8(ascii: "1") ? UInt8(ascii: "/") : UInt8(ascii: "~"))
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Reads a pointer of a configuration; reports a problem and returns nil if it is none.
    package static func read(_ node: ConfigurationNode, _ problems: Problems) -> JSONPointer? {
        guard let text = node.string(problems, expected: "a JSON Pointer such as \"/user/name\"") else { return nil }
        return read(text, at: node, problems)
    }

    /// Reads a pointer that stands at or in `node`, for example as a key; reports a problem and returns nil.
    package static func read(_ text: String, at node: ConfigurationNode, _ problems: Problems) -> JSONPointer? {
        if let pointer = JSONPointer(text) { return pointer }
        problems.add(at: node, fault(of: text))
        return nil
    }

    /// Says why a text is no pointer.
    static func fault(of text: String) -> String {
        if text.utf8.first != UInt8(ascii: "/") {
            return "\"\(text)\" is no JSON Pointer, which begins with \"/\"; did you mean \"/\(text)\"?"
        }
        return "\"\(text)\" is no JSON Pointer: \"~\" is written \"~0\" in it, and \"/\" in a key \"~1\""
    }
}
