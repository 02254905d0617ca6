/// What a request carried that an answer may quote and no message may show.
struct Secrets: Sendable {
    /// Shorter texts are no secrets, and blotting them out would make any text unreadable.
    private static let shortest = 6

    private let texts: [[UInt8]]

    /// Collects the values of header fields, their parts behind a scheme such as `Bearer`, and values in the query.
    init(target: String, values: [String]) {
        let query = target.split(separator: "?", maxSplits: 1).dropFirst().flatMap { $0.split(separator: "&") }
        let parameters = query.map { parameter in
            parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).last ?? ""
        }
        let credentials = values.flatMap { value in
            [Substring(value)] + value.split(separator: " ", maxSplits: 1).dropFirst()
        }
        texts = (credentials + parameters).map { Array($0.utf8) }.filter { $0.count >= Self.shortest }
            .sorted { $0.count > $1.count }
    }

    /// Returns the beginning of a stranger's text, made safe to show and without the secrets: at most `limit` bytes.
    func hidden(in bytes: [UInt8], limit: Int = 200) -> String {
        // The texts of interest are at the beginning; the bound keeps the search short.
        var bytes = Array(bytes.prefix(8192))
        for text in texts { bytes = Self.replace(text, in: bytes) }
        return SafeText.make(bytes, limit: limit)
    }

    private static func replace(_ text: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        while let range = rest.firstRange(of: text) {
            result += rest[..<range.lowerBound]
            result += "<redacted>".utf8
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}
