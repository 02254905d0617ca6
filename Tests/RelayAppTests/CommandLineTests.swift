import FoundationEssentials
import Glibc
import RelayTestKit
import Testing

@testable import RelayApp

/// The program as a shell sees it: arguments, files and signals in; texts and exit statuses out.
@Suite(.timeLimit(.minutes(1)))
struct CommandLineTests {
    private let folder: TemporaryFolder
    /// Nobody listens there, so a relay dials again and again.
    private let rules = Rules.text("ws://127.0.0.1:9/", sinks: Rules.stdout)

    init() throws {
        folder = try TemporaryFolder()
    }

    private func run(
        _ arguments: String..., environment: [String: String] = [:], input: String = ""
    ) async throws -> RelayProcess.Result {
        try await RelayProcess.run(arguments, environment: environment, input: input, folder: folder)
    }

    private func start(_ arguments: String...) throws -> RelayProcess {
        try RelayProcess(arguments, environment: ["CHIRP_TOKEN": "T"], folder: folder)
    }

    @Test func nothingElseTakesTheNumberOfAClosedStandardInput() async throws {
        let path = folder.write("rules.json", rules)
        let relay = try RelayProcess(
            ["run", "--no-state", "--rules", path], environment: ["CHIRP_TOKEN": "T"], folder: folder, hasInput: false)
        defer { relay.end() }
        await relay.errors(containing: "could not be connected")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(relay.id)/fd/0") == "/dev/null")
    }

    // MARK: Texts

    @Test func helpNamesEveryCommand() async throws {
        for words in [["--help"], ["help"], ["-h"]] {
            let result = try await RelayProcess.run(words, folder: folder)
            #expect(result.status == 0 && result.errors.isEmpty)
            for command in Commands.all { #expect(result.output.contains("  \(command.name) ")) }
        }
    }

    @Test(arguments: Commands.all.map(\.name)) func helpOfACommandNamesEveryOption(_ name: String) async throws {
        let command = try #require(Commands.all.first { $0.name == name })
        let results = [try await run(name, "--help"), try await run("help", name)]
        for result in results {
            #expect(result.status == 0 && result.errors.isEmpty)
            for option in command.options { #expect(result.output.contains("  \(option.shown)  ")) }
        }
        #expect(results[0].output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test func versionIsTold() async throws {
        let result = try await run("--version")
        #expect(result.status == 0 && result.output == "chirp-relay \(Version.number)\n" && result.errors.isEmpty)
    }

    @Test(arguments: [
        "schema", "--help", "--version", "check --help", "check rules.json", "silence --help", "help run",
    ])
    func aCommandWhoseOutputCannotBeWrittenFails(_ words: String) async throws {
        folder.write("rules.json", rules)
        let (status, errors) = try shell("\(RelayProcess.program) \(words) > /dev/full")
        #expect(status == 1)
        #expect(errors.hasSuffix("chirp-relay: standard output cannot be written: No space left on device\n"))
    }

    @Test func aCommandWhoseDiagnosticsCannotBeWrittenFails() async throws {
        folder.write("rules.json", rules.replacing("\"sinks\"", with: "\"lists\": {\"nobody\": [\"ann\"]}, \"sinks\""))
        #expect(try await run("check", folder.path + "/rules.json").errors.contains("warning"))
        #expect(system("cd \(folder.path) && \(RelayProcess.program) check rules.json > told 2> /dev/full") >> 8 == 1)
    }

    /// Runs a line of a shell in the folder; returns its status and what it wrote on standard error.
    private func shell(_ line: String) throws -> (status: Int32, errors: String) {
        let told = folder.path + "/told"
        let status = system("cd \(folder.path) && { \(line) ; } 2> \(told)")
        let errors = try String(contentsOfFile: told, encoding: .utf8)
        return (status >> 8, errors)
    }

    @Test func withoutACommandTheHelpGoesToStandardError() async throws {
        let result = try await run()
        #expect(result.status == 64 && result.output.isEmpty && result.errors.contains("Commands:"))
    }

    struct Wrong: Sendable {
        var words: [String]
        var told: String

        init(_ words: String, _ told: String) {
            self.words = words.split(separator: " ").map(String.init)
            self.told = told
        }
    }

    @Test(arguments: [
        Wrong("chekc", #"unknown command "chekc"; did you mean "check"?"#),
        Wrong("help demoo", #"unknown command "demoo"; did you mean "demo"?"#),
        Wrong("send", "the command send is not supported yet"),
        Wrong("--rules x run", "unknown option --rules; options stand behind the command"),
        Wrong("run --rulse x", #"run: unknown option --rulse; did you mean "--rules"?"#),
        Wrong("run -v", "run: unknown option -v; options begin with two dashes"),
        Wrong("run --rules", "run: --rules needs a value: --rules FILE"),
        Wrong("run --no-state=1", "run: --no-state takes no value"),
        Wrong("run now", #"run takes no argument "now""#),
        Wrong("check a b", #"check: one argument is enough, "b" is too much"#),
        Wrong("run --state x --no-state", "--state and --no-state exclude each other"),
        Wrong(
            "run --log-level wraning",
            #"--log-level is one of error, warning, info, debug, trace, not "wraning"; did you mean "warning"?"#),
        Wrong("run --log-format xml", #"--log-format is one of logfmt, json, not "xml""#),
        Wrong("demo --events 0", "--events is a number from 1 to 1000000, not 0"),
        Wrong("demo --rate fast", "--rate is a number from 0.01 to 10000.0, not fast"),
        Wrong("demo --token-env T", "--token-env goes with --url"),
        Wrong("demo --url ws://example.com/", "--url: ws:// would send the token in the clear; use wss://"),
    ]) func wrongWordsAreUsageFaults(_ wrong: Wrong) async throws {
        let result = try await RelayProcess.run(wrong.words, folder: folder)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains(wrong.told))
    }

    // MARK: The rules file

    @Test func aMissingRulesFileIsAConfigurationFault() async throws {
        let result = try await run("run")
        #expect(result.status == 78)
        #expect(result.errors.contains("there is no rules file; give --rules FILE, or make one at: "))
        #expect(result.errors.contains("\(folder.path)/.config/chirp-relay/rules.json, /etc/chirp-relay/rules.json"))
        let named = try await run("run", "--rules", "\(folder.path)/none.json")
        #expect(named.status == 78 && named.errors.contains("none.json: open failed: No such file or directory"))
    }

    @Test(arguments: [0o620, 0o602, 0o666]) func aRulesFileThatOthersCanWriteIsRefused(mode: UInt32) async throws {
        let path = folder.write("rules.json", rules, mode: mode)
        for words in [["run", "--rules", path], ["check", path], ["demo", "--rules", path]] {
            let result = try await RelayProcess.run(words, folder: folder)
            #expect(result.status == 78)
            #expect(result.errors.contains("can be written by others (mode 0\(String(mode, radix: 8)))"))
        }
    }

    @Test func theRulesFileIsFoundInOrder() {
        let variables = ["CHIRP_RELAY_RULES": "/v.json", "XDG_CONFIG_HOME": "/xdg", "HOME": "/home/ann"]
        func place(_ option: String?, without: [String], existing: Set<String> = []) -> String? {
            RulesFile.locate(
                option: option, environment: { without.contains($0) ? nil : variables[$0] },
                exists: { existing.contains($0) })
        }
        let (xdg, etc) = ("/xdg/chirp-relay/rules.json", "/etc/chirp-relay/rules.json")
        let home = "/home/ann/.config/chirp-relay/rules.json"
        #expect(place("/o.json", without: [], existing: [xdg, etc]) == "/o.json")
        #expect(place(nil, without: [], existing: [xdg, etc]) == "/v.json")
        #expect(place(nil, without: ["CHIRP_RELAY_RULES"], existing: [xdg, etc, home]) == xdg)
        #expect(place(nil, without: ["CHIRP_RELAY_RULES"], existing: [etc, home]) == etc)
        #expect(place(nil, without: ["CHIRP_RELAY_RULES", "XDG_CONFIG_HOME"], existing: [etc, home]) == home)
        #expect(place(nil, without: ["CHIRP_RELAY_RULES", "XDG_CONFIG_HOME", "HOME"], existing: [etc]) == etc)
        #expect(place(nil, without: ["CHIRP_RELAY_RULES"]) == nil)
    }

    // MARK: check

    /// The rules without anything that `check` warns of.
    private var fineRules: String {
        rules.replacing(#""type": "stdout""#, with: #""type": "stdout", "durable": true"#)
    }

    @Test func checkTellsThatAFileIsFine() async throws {
        let path = folder.write("rules.json", fineRules)
        let result = try await run("check", path, environment: ["CHIRP_TOKEN": "T"])
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(result.output == "\(path): ok (streams: 1, sinks: 1, rules: 1)\n")
    }

    @Test func checkTellsWhichZoneTheSystemGives() async throws {
        let times = #""times": {"night": {"from": "22:00", "to": "07:00"}}, "rules": [{"hold": "night", "#
        let path = folder.write("rules.json", fineRules.replacing(#""rules": [{"#, with: times))
        let result = try await run("check", path, environment: ["CHIRP_TOKEN": "T", "TZ": "Asia/Seoul"])
        #expect(result.output.hasSuffix("\nin the system's zone, Asia/Seoul: times.night\n"), "\(result)")
    }

    @Test func checkReadsStandardInput() async throws {
        let good = try await run("check", "-", environment: ["CHIRP_TOKEN": "T"], input: rules)
        #expect(good.status == 0 && good.output.hasPrefix("-: ok"))
        let bad = try await run("check", "-", input: "{")
        #expect(bad.status == 78 && bad.output.isEmpty && bad.errors.hasPrefix("-:1:"))
    }

    @Test func checkWarnsOfAnAbsentSecretAndFailsForItIfStrict() async throws {
        let path = folder.write("rules.json", rules)
        let warning =
            "\(path):2:62: warning: streams.chirp.token: the environment variable CHIRP_TOKEN is not there now"
        let lax = try await run("check", path)
        #expect(lax.status == 0 && lax.errors.contains(warning))
        let strict = try await run("check", "--strict", path)
        #expect(strict.status == 78 && strict.errors.contains(warning) && strict.output.isEmpty)
    }

    @Test func checkPrintsProblemsAsJSON() async throws {
        struct Line: Decodable, Equatable {
            var severity, file, path, message: String
            var line, column: Int
        }
        let path = folder.write("rules.json", #"{"streams": {}, "sinks": {"a": 1}, "rules": [], "rulez": 1}"#)
        let result = try await run("check", "--json", path)
        #expect(result.status == 78 && result.errors.isEmpty)
        let lines = try result.output.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.severity == "error" && $0.file == path && $0.line == 1 })
        #expect(lines.map(\.column) == [13, 32, 49])
        #expect(lines.last?.message == #"unknown key "rulez"; did you mean "rules"?"#)
        let fine = try await run(
            "check", "--json", folder.write("good.json", fineRules), environment: ["CHIRP_TOKEN": "T"])
        #expect(fine.status == 0 && fine.output.isEmpty)
    }

    @Test func moreProblemsThanAreToldAreCounted() async throws {
        let rules = (0..<1200).map { _ in "3" }.joined(separator: ", ")
        let path = folder.write("rules.json", Rules.text("ws://127.0.0.1:9/", sinks: Rules.stdout, rules: rules))
        for words in [["check", path], ["run", "--rules", path]] {
            let result = try await RelayProcess.run(words, folder: folder)
            #expect(result.status == 78)
            #expect(result.errors.split(separator: "\n").last == "\(path): 200 more problems are not shown")
        }
    }

    // MARK: run

    @Test func theStateDirectoryIsMadeForItsUserOnly() async throws {
        let path = folder.write("rules.json", rules)
        let state = folder.path + "/a/b"
        let process = try start("run", "--rules", path, "--state", state)
        defer { process.end() }
        await process.errors(containing: "starting")
        for place in [state, folder.path + "/a"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: place)
            #expect(attributes[.posixPermissions] as? Int == 0o700)
        }
        process.signal(SIGTERM)
        let result = await process.result()
        #expect(result.status == 0)
        let lines = result.errors.split(separator: "\n").filter { $0.contains("room=journal") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("msg=\"on disk\" state=\(state)") == true)
        for name in ["journal.db", "journal.ballast", "journal.mark", "lock"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(state)/\(name)")
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test func aStateDirectoryThatCannotBeMadeEndsARunThatAskedForIt() async throws {
        let path = folder.write("rules.json", rules)
        let file = folder.write("file", "")
        let asked = try await run("run", "--rules", path, "--state", file + "/state")
        #expect(asked.status == 1 && asked.errors.contains("cannot be made: Not a directory. Make it"))
        #expect(asked.errors.contains("--no-state"))
    }

    @Test func withoutStateNothingIsMade() async throws {
        let path = folder.write("rules.json", rules)
        let process = try start("run", "--rules", path, "--no-state")
        defer { process.end() }
        await process.errors(containing: "starting")
        process.signal(SIGINT)
        let result = await process.result()
        #expect(result.status == 0 && result.errors.contains("in memory, as asked for"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["rules.json", "stdin"])
    }

    @Test func aMissingSecretOfASinkIsAConfigurationFaultAfterWhatWasLogged() async throws {
        let sinks = #""out": {"type": "webhook", "url": {"env": "TEAM_URL"}}"#
        let path = folder.write("rules.json", Rules.text("ws://127.0.0.1:9/", sinks: sinks))
        let result = try await run("run", "--rules", path, "--no-state")
        #expect(result.status == 78 && result.output.isEmpty)
        let lines = result.errors.split(separator: "\n")
        #expect(
            lines.last?.hasPrefix("chirp-relay: a secret of a sink is missing: environment variable TEAM_URL") == true)
        #expect(lines.dropLast().contains { $0.contains("room=journal") })
    }

    @Test func aSignalToHangUpEndsNothing() async throws {
        let process = try start("run", "--rules", folder.write("rules.json", rules), "--no-state")
        defer { process.end() }
        await process.errors(containing: "could not be connected")
        process.signal(SIGHUP)
        #expect(await process.errors(containing: "nothing changed").contains("the rules file was read again"))
        process.signal(SIGTERM)
        #expect(await process.result().status == 0)
    }

    @Test func logLinesAreJSONIfAskedFor() async throws {
        let process = try start(
            "run", "--rules", folder.write("rules.json", rules), "--no-state", "--log-format", "json", "--log-level",
            "trace")
        defer { process.end() }
        await process.errors(containing: "could not be connected")
        process.signal(SIGTERM)
        for line in await process.result().errors.split(separator: "\n") {
            let entry = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
            #expect(Set(["time", "level", "room", "msg"]).isSubset(of: entry.keys))
        }
    }
}
