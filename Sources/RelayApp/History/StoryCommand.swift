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
        if entries.isEmpty {
            throw try AbsentEvent(id: id, stream: stream, policy: rules.configuration?.history).fault(
                reader, others: all, arguments)
        }
        let output = OutputBlock()
        for (place, entry) in entries.enumerated() {
            if arguments.has("json") {
                appendJSON(entry, rules, to: output)
            } else {
                if place > 0 { output.bytes.append(UInt8(ascii: "\n")) }
                appendText(entry, rules, to: output)
            }
        }
        output.write()
        try output.check()
        try rules.tell()
        return .done
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

    @MainLoop
    private func appendText(_ entry: HistoryEntry, _ rules: PresentRules, to output: OutputBlock) {
        var lines = StoryText(entry, ZonedTime()).lines
        if let configuration = rules.configuration, let event = entry.event {
            lines += ["", Shown.printable("By the rules as they are now, \(rules.path), it would go like this:")]
            let trace = configuration.rules.explain(event, at: entry.receivedAt)
            lines += TraceText(trace, style: TrialInput.style).lines
        }
        output.bytes.append(contentsOf: (lines + [""]).joined(separator: "\n").utf8)
    }

    @MainLoop
    private func appendJSON(_ entry: HistoryEntry, _ rules: PresentRules, to output: OutputBlock) {
        output.bytes.append(contentsOf: entry.json.line + [UInt8(ascii: "\n")])
        guard let configuration = rules.configuration, let event = entry.event else { return }
        let head = JSONValue.object([
            ("type", "presentRules"), ("file", .string(rules.path)), ("event", .number(Int(clamping: entry.number))),
        ])
        output.bytes.append(contentsOf: head.line + [UInt8(ascii: "\n")])
        for step in configuration.rules.explain(event, at: entry.receivedAt).steps {
            TraceJSON.append(step, to: &output.bytes)
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
