internal import RelayCore

/// The rules file: where it is, and what is in it.
struct RulesFile: Sendable {
    /// Why there is no configuration, in lines for a person.
    struct Fault: Error, Equatable {
        var lines: [String]
    }

    /// The path as it is shown.
    var path: String
    /// The text.
    var text: [UInt8]

    /// The folder that relative paths in the file relate to; empty for the working directory.
    var folder: String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    /// Returns the path that `run` takes: the option, else the environment's choice, else the first usual place that
    /// exists; nil if there is none.
    static func locate(option: String?, environment: (String) -> String?, exists: (String) -> Bool) -> String? {
        if let option { return option }
        if let path = environment("CHIRP_RELAY_RULES"), !path.isEmpty { return path }
        return usualPlaces(environment).first(where: exists)
    }

    /// The places that are looked at without an option or a variable, in order.
    static func usualPlaces(_ environment: (String) -> String?) -> [String] {
        // Relative values are ignored, as the XDG Base Directory Specification demands.
        let configured = environment("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = environment("HOME").flatMap { $0.hasPrefix("/") ? $0 + "/.config" : nil }
        return [configured ?? home, "/etc"].compactMap { $0.map { "\($0)/chirp-relay/rules.json" } }
    }

    /// Reads the file; refuses one that others can write.
    init(path: String) throws(Fault) {
        do throws(FileSafety.Fault) {
            self.init(
                path: path,
                text: try FileSafety.read(path, privacy: .open, limit: ConfigurationParser.largestFile))
        } catch {
            throw Fault(lines: [error.description])
        }
    }

    /// Takes a text that comes from elsewhere, such as standard input.
    init(path: String, text: [UInt8]) {
        self.path = path
        self.text = text
    }

    /// Returns what the file says and its warnings; throws all problems together if it is wrong.
    func configuration() throws(Fault) -> (RelayConfiguration, warnings: [Problem]) {
        let problems = Problems()
        guard let configuration = RelayConfiguration.read(text, problems: problems) else {
            throw Fault(lines: problems.lines(file: path))
        }
        return (configuration, problems.sorted)
    }
}
