internal import GLibRuntime
internal import RelayCore
internal import RelayJournal
internal import RelayRules

/// `explain EVENT-ID`: tells from the history what became of an event, and what the rules as they are now make of it.
struct StoryCommand {
    private let arguments: ParsedArguments

    /// Takes the arguments of the command.
    init(_ arguments: ParsedArguments) {
        self.arguments = arguments
    }

    /// Tells the story of all events with an id.
    ///
    /// - Throws: `CommandFault` for options that make no sense with an id (64), if no such event is recorded (1), or if
    ///   the rules were asked for and cannot be read (78).
    @MainLoop
    func run(_ id: String) throws(CommandFault) -> ExitCode {
        if arguments.has("at") {
            throw CommandFault(.usage, "--at does not go with the id of an event, which was received at its own time")
        }
        let reader = try reader(id)
        let all = try JournalPlace.told { () throws(JournalReader.Fault) in try reader.story(of: id) }
        let stream = arguments.options["stream"]
        let entries = all.filter { stream == nil || $0.event?.stream == stream }
        let rules = PresentRules(option: arguments.options["rules"])
        let pages = entries.map { StoryPage(entry: $0, rules: rules.configuration?.rules, file: rules.path) }
        if !pages.isEmpty {
            try print(
                arguments.has("json")
                    ? pages.map(\.records) : pages.map { Self.bytes($0.lines(style: TrialInput.style)) })
        } else if let told = told(of: id, in: stream) {
            try print(told)
        } else {
            throw try AbsentEvent(id: id, stream: stream, policy: rules.configuration?.history).fault(
                reader, others: all, arguments)
        }
        try rules.tell()
        return .done
    }

    private static func bytes(_ lines: [String]) -> [[UInt8]] { lines.map { Array($0.utf8) } }

    /// Prints pages, with an empty line between those for people.
    @MainLoop
    private func print(_ pages: [[[UInt8]]]) throws(CommandFault) {
        let output = OutputBlock()
        for (place, page) in pages.enumerated() {
            if place > 0, !arguments.has("json") { output.bytes.append(UInt8(ascii: "\n")) }
            for line in page { output.bytes.append(contentsOf: line + [UInt8(ascii: "\n")]) }
        }
        output.write()
        try output.check()
    }

    /// The pages of a running relay, which has the last events that were not recorded in memory; nil if it has none.
    private func told(of id: String, in stream: String?) -> [[[UInt8]]]? {
        let asked = [("id", id)] + (stream.map { [("stream", $0)] } ?? [])
        let request = JSONValue.object([("request", "explain")] + asked.map { (name: $0, value: .string($1)) })
        // Without a relay there is nothing to ask.
        guard let answer = try? ControlClient(arguments).ask(request), let events = answer["events"]?.list,
            !events.isEmpty
        else { return nil }
        let key = arguments.has("json") ? "records" : "lines"
        return events.map { Self.bytes(($0[key]?.list ?? []).compactMap(\.text)) }
    }

    private func reader(_ id: String) throws(CommandFault) -> JournalReader {
        do throws(CommandFault) {
            return try JournalPlace.reader(arguments)
        } catch {
            guard error.exitCode == .failed else { throw error }
            let what = Shown.printable("there is no file \(Shown.quoted(id)), so it is taken for the id of an event")
            throw CommandFault(.failed, ["chirp-relay: \(what)"] + error.lines)
        }
    }
}

/// The rules as they are now, as far as they can be read: the story of an event does not need them.
private struct PresentRules {
    /// What the file says; nil if it cannot be read, or there is none.
    private(set) var configuration: RelayConfiguration?
    /// The file.
    private(set) var path = ""
    private let isAskedFor: Bool
    private var fault: CommandFault?

    /// Reads the file that `option` names, else the usual one.
    init(option: String?) {
        isAskedFor = option != nil
        do throws(CommandFault) {
            path = try CommandRules.path(option: option)
            configuration = try CommandRules.load(path).1
        } catch {
            fault = error
        }
    }

    /// Tells why there are no rules.
    ///
    /// - Throws: `CommandFault` (78) if they were asked for.
    func tell() throws(CommandFault) {
        guard let fault else { return }
        if isAskedFor { throw fault }
        // Without a file nobody expects a trace; a wrong file is worth a word.
        if path.isEmpty { return }
        Console.complain(
            Shown.printable(
                "chirp-relay: what the rules as they are now make of it is not shown, since \(path) is wrong; see `check`"
            ))
    }
}
