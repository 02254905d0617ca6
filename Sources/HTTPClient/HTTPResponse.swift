/// An answer to a request.
package struct HTTPResponse: Sendable {
    /// The status code.
    package var status: Int
    /// The body, at most as long as the request allowed.
    package var body: [UInt8]
    /// Whether the body was longer than the request allowed, and cut.
    package var isTruncated: Bool
    /// The header lines as they came, each with its line break.
    private let headerBytes: [UInt8]

    /// How many bytes of header lines are taken; an answer with more fails.
    static let maxHeaderBytes = 64 * 1024
    /// How many header fields are shown; further ones are passed over.
    static let maxHeaderCount = 200

    init(status: Int, headerBytes: [UInt8], body: [UInt8], isTruncated: Bool) {
        self.status = status
        self.headerBytes = headerBytes
        self.body = body
        self.isTruncated = isTruncated
    }

    /// The header fields in the order they came, with names in lower case.
    ///
    /// Parsed when asked for, since most answers are judged by their status alone.
    package var headers: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        for line in headerBytes.split(separator: UInt8(ascii: "\n")).prefix(Self.maxHeaderCount) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            let value = String(decoding: Self.trimmed(line[line.index(after: colon)...]), as: UTF8.self)
            fields.append((name, value))
        }
        return fields
    }

    /// Returns the value of the first header field `name`, which is in lower case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        let start = bytes.drop(while: isBlank)
        guard let last = start.lastIndex(where: { !isBlank($0) }) else { return start }
        return start[...last]
    }
}
