internal import Glibc
internal import RelayCore

/// How commands come to the rules file.
enum CommandRules {
    /// Returns the path to take: `option`, or what the environment says.
    ///
    /// - Throws: `CommandFault` (usage) that names the places if there is no file.
    static func path(option: String?) throws(CommandFault) -> String {
        let environment = SecretReader.processEnvironment
        if let path = RulesFile.locate(option: option, environment: environment, exists: { access($0, F_OK) == 0 }) {
            return path
        }
        let places = RulesFile.usualPlaces(environment).joined(separator: ", ")
        throw CommandFault(.configuration, "there is no rules file; give --rules FILE, or make one at: \(places)")
    }

    /// Reads and checks the file; a wrong one ends the command with 78 and every problem.
    static func load(_ path: String) throws(CommandFault) -> (RulesFile, RelayConfiguration, warnings: [Problem]) {
        let file = try file(path)
        do throws(RulesFile.Fault) {
            let (configuration, warnings) = try file.configuration()
            return (file, configuration, warnings)
        } catch {
            throw CommandFault(.configuration, error.lines)
        }
    }

    /// Reads the file, or standard input for `-`.
    static func file(_ path: String) throws(CommandFault) -> RulesFile {
        if path == standardInput { return RulesFile(path: path, text: try readStandardInput()) }
        do throws(RulesFile.Fault) {
            return try RulesFile(path: path)
        } catch {
            throw CommandFault(.configuration, error.lines)
        }
    }

    /// The path that means standard input.
    static let standardInput = "-"

    private static func readStandardInput() throws(CommandFault) -> [UInt8] {
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = chunk.withUnsafeMutableBytes { Glibc.read(0, $0.baseAddress, $0.count) }
            if count == 0 { return text }
            if count < 0 {
                if errno == EINTR { continue }
                throw CommandFault(.configuration, "standard input cannot be read: \(String(cString: strerror(errno)))")
            }
            text += chunk[..<count]
            guard text.count <= ConfigurationParser.largestFile else {
                throw CommandFault(
                    .configuration, "standard input is larger than \(ConfigurationParser.largestFile) bytes")
            }
        }
    }
}
