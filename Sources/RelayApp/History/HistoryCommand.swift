internal import GLibRuntime
internal import RelayCore
internal import RelayJournal

/// `history`: lists the recorded events and what became of them.
struct HistoryCommand {
    private let arguments: ParsedArguments

    private static let actions = ["list"]
    /// How many events are listed without `--limit`.
    private static let usualLimit = 100
    private static let limits = 1...100_000

    /// Takes the arguments of the command.
    init(_ arguments: ParsedArguments) {
        self.arguments = arguments
    }

    /// Reads the history.
    ///
    /// - Throws: `CommandFault` for wrong words (64), or if there is no journal (1).
    @MainLoop
    func run(now: Instant = Instant(milliseconds: WallTime.milliseconds())) throws(CommandFault) -> ExitCode {
        switch arguments.operand {
        case "list": try list(now)
        case let action?:
            let suggestion = NearestName.suggestion(for: action, among: Self.actions)
            throw usage("there is list, not \(Shown.quoted(action))\(suggestion)")
        case nil: throw usage("say what to do: list")
        }
        return .done
    }

    @MainLoop
    private func list(_ now: Instant) throws(CommandFault) {
        let limit = try limit()
        let filter = try filter(now)
        let watch = ProgressWatch(SystemClock(), output: OutputBlock())
        defer { watch.end() }
        let found = try JournalPlace.reading(arguments) { reader throws(JournalReader.Fault) in
            try reader.history(filter, limit: limit + 1) { watch.count($0) }
        }
        watch.end()
        let entries = found.prefix(limit)
        if arguments.has("json") {
            for entry in entries { Console.print(String(decoding: entry.json.line, as: UTF8.self)) }
        } else if entries.isEmpty {
            Console.print("the history holds nothing of that kind")
        } else {
            Console.print(TextTable.text(HistoryEntry.header, entries.map(\.row)))
        }
        if found.count > limit { Console.complain("there is more; ask for it with --limit") }
    }

    private func filter(_ now: Instant) throws(CommandFault) -> HistoryFilter {
        let times = ZonedTime()
        var filter = HistoryFilter()
        filter.since = try HistoryTime.instant(arguments, "since", now: now, times)
        filter.until = try HistoryTime.instant(arguments, "until", now: now, times)
        if let since = filter.since, let until = filter.until, since >= until {
            throw usage("--since must lie before --until")
        }
        filter.kind = arguments.options["kind"]
        filter.actor = arguments.options["actor"]
        filter.stream = arguments.options["stream"]
        filter.rule = arguments.options["rule"]
        filter.sink = arguments.options["sink"]
        if let word = arguments.options["outcome"] {
            guard let outcome = HistoryOutcome(rawValue: word) else {
                let words = HistoryOutcome.allCases.map(\.rawValue)
                let suggestion = NearestName.suggestion(for: word, among: words)
                throw usage(
                    "--outcome is one of \(words.joined(separator: ", ")), not \(Shown.quoted(word))\(suggestion)")
            }
            filter.outcome = outcome
        }
        return filter
    }

    private func limit() throws(CommandFault) -> Int {
        guard let text = arguments.options["limit"] else { return Self.usualLimit }
        guard let number = Int(text), Self.limits.contains(number) else {
            throw usage("--limit is a number from 1 to \(Self.limits.upperBound), not \(Shown.quoted(text))")
        }
        return number
    }

    private func usage(_ message: String) -> CommandFault {
        CommandFault(.usage, Shown.printable("history: \(message)"))
    }
}
