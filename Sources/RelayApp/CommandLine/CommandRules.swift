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
        do throws(RulesFile.Fault) {
            let file = try RulesFile(path: path)
            let (configuration, warnings) = try file.configuration()
            return (file, configuration, warnings)
        } catch {
            throw CommandFault(.configuration, error.lines)
        }
    }
}
