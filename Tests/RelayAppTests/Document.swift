import FoundationEssentials

/// A page of contrib/docs, as the blocks between its fences.
struct Document {
    /// What is between two fences.
    struct Block {
        /// The language that the fence names.
        var language: String
        /// The file that it is by the line before, if it is one.
        var file: String?
        var text: String

        /// The words of the command behind `$ chirp-relay`; nil if it shows none.
        var command: [String]? {
            guard text.hasPrefix("$ chirp-relay ") else { return nil }
            return text.prefix { $0 != "\n" }.split(separator: " ").dropFirst(2).map(String.init)
        }

        /// What the command prints.
        var output: String { String(text.drop { $0 != "\n" }.dropFirst()) }
    }

    let blocks: [Block]

    /// Reads a page.
    init(_ name: String) throws {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        let text = String(decoding: try Data(contentsOf: URL(filePath: "\(root)/contrib/docs/\(name)")), as: UTF8.self)
        // Outside and inside of the fences by turns.
        let parts = text.split(separator: "```", omittingEmptySubsequences: false)
        blocks = stride(from: 1, to: parts.count, by: 2).map { index in
            let line = parts[index - 1].split(separator: "\n").last ?? ""
            let isFile = line.hasPrefix("`") && line.hasSuffix("`:")
            return Block(
                language: String(parts[index].prefix { $0 != "\n" }),
                file: isFile ? String(line.dropFirst().dropLast(2)) : nil,
                text: String(parts[index].drop { $0 != "\n" }.dropFirst()))
        }
    }
}
