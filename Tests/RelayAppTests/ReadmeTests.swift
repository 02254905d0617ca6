import FoundationEssentials
import Testing

@testable import RelayApp

/// What README.md says of the command line is true.
struct ReadmeTests {
    private let text: String

    init() throws {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        text = String(decoding: try Data(contentsOf: URL(filePath: root + "/README.md")), as: UTF8.self)
    }

    /// The words that follow `chirp-relay` in code, up to the end of the line or of the code.
    private var uses: [[String]] {
        text.split(separator: "\n").flatMap { line -> [[String]] in
            line.split(separator: "`").compactMap { part in
                guard let range = part.firstRange(of: "chirp-relay ") else { return nil }
                let words = part[range.upperBound...].prefix { !"|#>&;".contains($0) }.split(separator: " ")
                return words.isEmpty ? nil : words.map { String($0.filter { !"[](),.".contains($0) }) }
            }
        }
    }

    @Test func everyCommandAndOptionInItExists() {
        var seen = 0
        for words in uses {
            guard let command = Commands.all.first(where: { $0.name == words[0] }) else {
                #expect(!Commands.notYet.contains(words[0]), "\(words) is not built")
                continue
            }
            seen += 1
            let known = (command.options + [CommandSpec.helpOption]).map { "--\($0.name)" }
            for word in words where word.hasPrefix("--") {
                let option = String(word.prefix { $0 != "=" })
                #expect(known.contains(option), "\(words)")
            }
        }
        #expect(seen > 0)
    }

    @Test func everyCommandIsInIt() {
        for command in Commands.all {
            // The demo has a script of its own.
            let isNamed = text.contains("chirp-relay \(command.name)") || text.contains("contrib/\(command.name)")
            #expect(isNamed, "\(command.name)")
        }
    }

    @Test func theHelpOfACommandSpeaksOfItsOwnOptionsOnly() {
        for command in Commands.all {
            let known = Set((command.options + [CommandSpec.helpOption]).map { "--\($0.name)" })
            let words = command.help.split { !($0.isLetter || $0 == "-") }.filter { $0.hasPrefix("--") }.map(
                String.init)
            #expect(Set(words).subtracting(known).isEmpty, "\(command.name)")
        }
    }
}
