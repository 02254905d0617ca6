import FoundationEssentials
import RelayTestKit
import Testing

/// What `contrib/docs/testing-rules.md` shows is what happens.
@Suite(.timeLimit(.minutes(1)))
struct TrialDocumentTests {
    /// A block between fences, with the name of the file it is, if it is one.
    private struct Block {
        var file: String?
        var text: String
    }

    private let blocks: [Block]

    init() throws {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        let path = root + "/contrib/docs/testing-rules.md"
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        // Outside and inside of the fences by turns.
        let parts = text.split(separator: "```", omittingEmptySubsequences: false)
        blocks = stride(from: 1, to: parts.count, by: 2).map { index in
            let line = parts[index - 1].split(separator: "\n").last ?? ""
            let isFile = line.hasPrefix("`") && line.hasSuffix("`:")
            let body = parts[index].drop { $0 != "\n" }.dropFirst()
            return Block(file: isFile ? String(line.dropFirst().dropLast(2)) : nil, text: String(body))
        }
    }

    @Test func itsCommandsPrintWhatItSays() async throws {
        let folder = try TemporaryFolder()
        var commands = 0
        for block in blocks {
            if let file = block.file {
                folder.write(file, block.text)
                continue
            }
            guard block.text.hasPrefix("$ chirp-relay ") else { continue }
            commands += 1
            let lines = block.text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            let words = lines[0].split(separator: " ").dropFirst(2).map { word in
                folder.holds(String(word)) ? "\(folder.path)/\(word)" : String(word)
            }
            let result = try await RelayProcess.run(
                Array(words), environment: ["TZ": "Europe/Berlin"], folder: folder)
            #expect(result.output.replacing(folder.path + "/", with: "") == lines.dropFirst().joined(), "\(lines[0])")
            #expect(result.errors.isEmpty)
        }
        #expect(commands == 3)
    }
}

extension TemporaryFolder {
    /// Whether it has a file of this name.
    fileprivate func holds(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(name)") }
}
