internal import GLibRuntime
internal import Glibc
internal import RelayCore
internal import RelayRules

/// `check`: tells everything that is wrong with a rules file.
struct CheckCommand {
    private let arguments: ParsedArguments

    /// Takes the arguments of the command.
    init(_ arguments: ParsedArguments) {
        self.arguments = arguments
    }

    /// Reads the file and prints its problems.
    ///
    /// - Returns: 0, or 78 if there is an error, or a warning under `--strict`.
    /// - Throws: `CommandFault` (78) if there is no file to read.
    func run() throws(CommandFault) -> ExitCode {
        let file = try load()
        let problems = Problems()
        let configuration = RelayConfiguration.read(file.text, problems: problems)
        if configuration != nil { warnOfSecrets(problems, folder: file.folder) }
        tell(problems, file: file.path)
        let isStrict = arguments.has("strict")
        guard let configuration, problems.all.isEmpty || !isStrict else { return .configuration }
        if !arguments.has("json") {
            let (streams, sinks) = (configuration.streams.count, configuration.sinks.count)
            let rules = configuration.rules.rules.count
            Console.print("\(file.path): ok (streams: \(streams), sinks: \(sinks), rules: \(rules))")
            tellZone(of: configuration.rules)
        }
        return .done
    }

    /// Tells which zone the file leaves to the system: on another machine its times may be others.
    private func tellZone(of rules: RuleSet) {
        let places = rules.placesInSystemZone
        guard !places.isEmpty else { return }
        Console.print("in the system's zone, \(Zone().identifier): \(places.joined(separator: ", "))")
    }

    private func load() throws(CommandFault) -> RulesFile {
        try CommandRules.file(try CommandRules.path(option: arguments.operand))
    }

    /// Warns of secrets that `run` would not find, and reads none of them.
    private func warnOfSecrets(_ problems: Problems, folder: String) {
        let reader = SecretReader(folder: folder)
        for (source, node) in problems.secrets {
            let isAbsent: Bool
            switch source {
            case .environment(let name): isAbsent = SecretReader.processEnvironment(name) == nil
            case .file, .credential: isAbsent = reader.file(of: source).map { access($0, F_OK) != 0 } ?? true
            case .command: isAbsent = false
            }
            if isAbsent { problems.add(.warning, at: node, "the \(source.label) is not there now") }
        }
    }

    private func tell(_ problems: Problems, file: String) {
        if arguments.has("json") {
            for problem in problems.sorted { printJSON(problem, file: file) }
        } else {
            for line in problems.lines(file: file) { Console.complain(line) }
        }
    }

    private func printJSON(_ problem: Problem, file: String) {
        var json: [UInt8] = []
        func append(_ name: String, _ value: String, first: Bool = false) {
            json.append(contentsOf: "\(first ? "{" : ",")\"\(name)\":\"".utf8)
            JSONText.append(value, to: &json)
            json.append(UInt8(ascii: "\""))
        }
        append("severity", problem.severity.rawValue, first: true)
        append("file", file)
        json.append(contentsOf: ",\"line\":\(problem.position.line),\"column\":\(problem.position.column)".utf8)
        append("path", problem.path)
        append("message", problem.message)
        json.append(UInt8(ascii: "}"))
        Console.print(String(decoding: json, as: UTF8.self))
    }
}
