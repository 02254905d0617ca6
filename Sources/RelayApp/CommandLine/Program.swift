internal import GLibRuntime
internal import Glibc
internal import RelayCore

/// The program: arguments in, exit code out.
package enum Program {
    /// Runs the command that `arguments` (without the program's own name) ask for.
    package static func run(_ arguments: [String]) async -> ExitCode {
        StandardDescriptors.occupy()
        ProcessSignals.ignoreBrokenPipe()
        // What the relay creates is for its user only.
        umask(0o077)
        return Console.end(await end(of: arguments))
    }

    private static func end(of arguments: [String]) async -> ExitCode {
        guard let name = arguments.first else {
            Console.complain(Commands.help)
            return .usage
        }
        switch name {
        case "--help", "-h", "help":
            return help(arguments.dropFirst().first)
        case "--version":
            Console.print("chirp-relay \(Version.number)")
            return .done
        default:
            guard let spec = Commands.all.first(where: { $0.name == name }) else { return unknown(name) }
            return await run(spec, Array(arguments.dropFirst()))
        }
    }

    private static func run(_ spec: CommandSpec, _ words: [String]) async -> ExitCode {
        let arguments: ParsedArguments
        do throws(ParsedArguments.Fault) {
            arguments = try ParsedArguments(words, spec: spec)
        } catch {
            return usage("\(spec.name): \(error)", seeAlso: spec.name)
        }
        if arguments.has("help") {
            Console.print(spec.help)
            return .done
        }
        do throws(CommandFault) {
            return switch spec.name {
            case Commands.run.name: try await RunCommand(arguments).run()
            case Commands.check.name: try CheckCommand(arguments).run()
            case Commands.test.name: try await TestCommand(arguments).run()
            case Commands.explain.name: try await ExplainCommand(arguments).run()
            case Commands.replay.name: try await ReplayCommand(arguments).run()
            case Commands.silence.name: try await SilenceCommand(arguments).run()
            case Commands.outbox.name: try await OutboxCommand(arguments).run()
            case Commands.history.name: try await HistoryCommand(arguments).run()
            case Commands.schema.name: printSchema()
            default: try await DemoCommand(arguments).run()
            }
        } catch {
            for line in error.lines { Console.complain(line) }
            return error.exitCode
        }
    }

    private static func printSchema() -> ExitCode {
        // The last newline of the file is the console's.
        Console.print(String(decoding: PackageResources.rules_schema_json.dropLast(), as: UTF8.self))
        return .done
    }

    private static func help(_ command: String?) -> ExitCode {
        guard let command else {
            Console.print(Commands.help)
            return .done
        }
        guard let spec = Commands.all.first(where: { $0.name == command }) else { return unknown(command) }
        Console.print(spec.help)
        return .done
    }

    private static func unknown(_ name: String) -> ExitCode {
        if Commands.notYet.contains(name) { return usage("the command \(name) is not supported yet", seeAlso: nil) }
        if name.hasPrefix("-") {
            return usage("unknown option \(name); options stand behind the command", seeAlso: nil)
        }
        let names = Commands.all.map(\.name)
        return usage(
            "unknown command \(Shown.quoted(name))" + NearestName.suggestion(for: name, among: names), seeAlso: nil)
    }

    private static func usage(_ message: String, seeAlso command: String?) -> ExitCode {
        Console.complain("chirp-relay: \(message)")
        Console.complain("Try `chirp-relay \(command.map { $0 + " " } ?? "")--help`.")
        return .usage
    }
}

/// Why a command ends before its work is done: lines for a person, and the exit code.
struct CommandFault: Error, Equatable {
    var lines: [String]
    var exitCode: ExitCode

    init(_ exitCode: ExitCode, _ lines: [String]) {
        self.lines = lines
        self.exitCode = exitCode
    }

    init(_ exitCode: ExitCode, _ line: String) {
        self.init(exitCode, ["chirp-relay: \(line)"])
    }
}
