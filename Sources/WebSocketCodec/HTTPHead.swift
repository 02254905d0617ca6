/// One field of an HTTP head.
package struct HTTPHeader: Sendable, Hashable {
    /// The name as written; names compare without case.
    package var name: String
    /// The value without the blanks around it.
    package var value: String

    /// Creates a field.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The head of an HTTP/1 message: RFC 9112, section 2.1.
package struct HTTPHead: Sendable, Hashable {
    /// The request line or the status line.
    package var startLine: String
    /// The fields in the order sent.
    package var headers: [HTTPHeader]

    /// Creates a head.
    package init(startLine: String, headers: [HTTPHeader]) {
        self.startLine = startLine
        self.headers = headers
    }

    /// Returns the values of all fields called `name`, in any case.
    package func values(of name: String) -> [String] {
        headers.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.value)
    }

    /// Returns the members of all comma-separated lists called `name`, as written, without empty ones.
    package func list(of name: String) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }.map { String($0).trimmedBlanks }.filter { !$0.isEmpty }
    }

    /// Returns whether a list called `name` has the member `token`, in any case.
    func hasToken(_ token: String, in name: String) -> Bool {
        list(of: name).contains { $0.equalsIgnoringASCIICase(token) }
    }
}

/// The first line of an answer.
struct StatusLine: Sendable {
    /// Such as `HTTP/1.1`.
    var version: String
    /// From 100 to 599.
    var status: Int
    /// What the server wrote behind the number, possibly nothing.
    var reason: String

    /// Reads the line, or returns nil if it is none.
    init?(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[0].utf8.count == 8, words[1].utf8.count == 3,
            words[1].utf8.allSatisfy(\.isDigit), let status = Int(words[1]), (100...599).contains(status)
        else { return nil }
        version = String(words[0])
        self.status = status
        reason = words.count > 2 ? String(words[2]) : ""
    }
}

extension [UInt8] {
    /// Appends a line of a head.
    mutating func appendLine(_ line: String) {
        append(contentsOf: line.utf8)
        append(contentsOf: [0x0D, 0x0A])
    }

    /// Appends a field, which stays one field whatever its value holds.
    ///
    /// Control characters in a value become spaces; a field whose name is no token is left out.
    mutating func appendHeader(_ name: String, _ value: String) {
        guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter) else { return }
        append(contentsOf: name.utf8)
        append(contentsOf: [0x3A, 0x20])
        append(contentsOf: value.utf8.lazy.map { $0.isControl ? 0x20 : $0 })
        append(contentsOf: [0x0D, 0x0A])
    }
}
