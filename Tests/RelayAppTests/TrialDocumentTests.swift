import FoundationEssentials
import RelayTestKit
import Testing

/// What `contrib/docs/testing-rules.md` shows is what happens.
@Suite(.timeLimit(.minutes(1)))
struct TrialDocumentTests {
    @Test func itsCommandsPrintWhatItSays() async throws {
        let folder = try TemporaryFolder()
        var commands = 0
        for block in try Document("testing-rules.md").blocks {
            if let file = block.file { folder.write(file, block.text) }
            guard let command = block.command else { continue }
            commands += 1
            let words = command.map { folder.holds($0) ? folder.file($0) : $0 }
            let result = try await RelayProcess.run(words, environment: ["TZ": "Europe/Berlin"], folder: folder)
            #expect(result.output.replacing(folder.path + "/", with: "") == block.output, "\(command)")
            #expect(result.errors.isEmpty)
        }
        #expect(commands == 3)
    }
}

extension TemporaryFolder {
    /// Whether it has a file of this name.
    fileprivate func holds(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(name)") }
}
