internal import GLibRuntime
internal import RelayCore
internal import RelayJournal

/// `outbox`: lists and shows what waits for its sinks or was given up, sends it again, drops it.
struct OutboxCommand {
    private let arguments: ParsedArguments

    private static let actions = ["list", "show", "retry", "drop"]
    /// How many entries are listed without `--limit`.
    private static let usualLimit = 100

    /// Takes the arguments of the command.
    init(_ arguments: ParsedArguments) {
        self.arguments = arguments
    }

    /// Reads the journal, or asks for a change.
    ///
    /// - Throws: `CommandFault` for wrong words (64), or if there is no journal or the change was refused (1).
    func run(now: Instant = Instant(milliseconds: WallTime.milliseconds())) async throws(CommandFault) -> ExitCode {
        switch arguments.operand {
        case "list":
            try allow(["sink", "dead", "pending", "older-than", "limit", "json"], operands: 0)
            try list(now)
        case "show":
            try allow(["json"], operands: 1)
            try show(now)
        case "retry":
            try allow(["sink", "older-than", "all", "to"], operands: .max)
            try await change("retry", now)
        case "drop":
            try allow(["sink", "dead", "pending", "older-than", "all"], operands: .max)
            try await change("drop", now)
        case let action?:
            let suggestion = NearestName.suggestion(for: action, among: Self.actions)
            throw usage("there is list, show, retry and drop, not \(Shown.quoted(action))\(suggestion)")
        case nil: throw usage("say what to do: list, show, retry or drop")
        }
        return .done
    }

    // MARK: Reading

    private func list(_ now: Instant) throws(CommandFault) {
        let limit = try number("limit") ?? Self.usualLimit
        let selection = try selection(now)
        let found = try JournalPlace.reading(arguments) { reader throws(JournalReader.Fault) in
            try reader.outbox(selection, limit: limit + 1)
        }
        let entries = found.prefix(limit)
        if arguments.has("json") {
            for entry in entries { Console.print(String(decoding: entry.json.line, as: UTF8.self)) }
        } else if entries.isEmpty {
            Console.print("the outbox holds nothing of that kind")
        } else {
            Console.print(
                TextTable.text(
                    ["ID", "SINK", "STATE", "AGE", "TRIES", "WHAT", "ERROR"],
                    entries.map { row($0, now) }))
        }
        if found.count > limit { Console.complain("there is more; ask for it with --limit") }
    }

    private func row(_ entry: OutboxEntry, _ now: Instant) -> [String] {
        [
            String(entry.serial), entry.delivery.sink, entry.stateWord, DurationText.rough(now - entry.acceptedAt),
            String(entry.attempts), entry.subject, Shown.printable(entry.lastError ?? "-"),
        ]
    }

    private func show(_ now: Instant) throws(CommandFault) {
        guard let word = arguments.operands.dropFirst().first else { throw usage("show which one? give its id") }
        let id = try Self.id(word)
        let entries = try JournalPlace.reading(arguments) { reader throws(JournalReader.Fault) in
            try reader.outbox(OutboxSelection(serials: [id]), limit: 1)
        }
        guard let entry = entries.first else {
            throw CommandFault(
                .failed,
                "the outbox has no delivery \(id); `outbox list` shows what it has, `history list` what is done")
        }
        Console.print(
            arguments.has("json") ? String(decoding: entry.json.line, as: UTF8.self) : entry.page(at: now))
    }

    // MARK: Changing

    private func change(_ action: String, _ now: Instant) async throws(CommandFault) {
        let selection = try selection(now)
        if selection == OutboxSelection(), !arguments.has("all") {
            throw usage("\(action) what? give ids, --sink, --older-than, or --all")
        }
        let answer = try await ControlDesk(arguments).ask(request(action, selection))
        let count = answer["count"]?.text ?? "0"
        let done = action == "drop" ? "dropped" : arguments.options["to"].map { "moved to \($0)" } ?? "to be sent again"
        Console.print("\(count) \(count == "1" ? "delivery" : "deliveries") \(Shown.printable(done))")
    }

    private func request(_ action: String, _ selection: OutboxSelection) -> JSONValue {
        var request: [(name: String, value: JSONValue)] = [("request", .string("outbox.\(action)"))]
        if let sink = selection.sink { request.append(("sink", .string(sink))) }
        if let serials = selection.serials {
            request.append(("ids", .array(serials.sorted().map { .number(Int(clamping: $0)) })))
        }
        if let acceptedBy = selection.acceptedBy { request.append(("acceptedBy", .time(acceptedBy))) }
        if let isDead = selection.isDead { request.append(("dead", .bool(isDead))) }
        if let sink = arguments.options["to"] { request.append(("to", .string(sink))) }
        return .object(request)
    }

    // MARK: Words

    private func selection(_ now: Instant) throws(CommandFault) -> OutboxSelection {
        var selection = OutboxSelection(sink: arguments.options["sink"])
        let words = arguments.operands.dropFirst()
        if !words.isEmpty {
            var serials: Set<UInt64> = []
            for word in words { serials.insert(try Self.id(word)) }
            selection.serials = serials
        }
        if let text = arguments.options["older-than"] {
            guard let age = DurationText.parse(text) else {
                throw usage("--older-than is a duration such as 90s, 15m, 1h30m or 2d, not \(Shown.quoted(text))")
            }
            selection.acceptedBy = now + (.zero - age)
        }
        switch (arguments.has("pending"), arguments.has("dead")) {
        case (true, true): throw usage("--pending and --dead exclude each other; without either, both are meant")
        case (true, false): selection.isDead = false
        case (false, true): selection.isDead = true
        case (false, false): break
        }
        return selection
    }

    private func number(_ option: String) throws(CommandFault) -> Int? {
        guard let text = arguments.options[option] else { return nil }
        guard let number = Int(text), (1...100_000).contains(number) else {
            throw usage("--\(option) is a number from 1 to 100000, not \(Shown.quoted(text))")
        }
        return number
    }

    private static func id(_ word: String) throws(CommandFault) -> UInt64 {
        guard let id = UInt64(word), id > 0 else {
            throw CommandFault(
                .usage, "outbox: an id is a number, as `outbox list` shows it, not \(Shown.quoted(word))")
        }
        return id
    }

    /// Refuses options that belong to another action; `operands` are those after the action's name.
    private func allow(_ options: [String], operands: Int) throws(CommandFault) {
        let action = arguments.operand ?? ""
        let foreign = arguments.options.keys.filter { !(options + ["state", "rules"]).contains($0) }.sorted()
        if let option = foreign.first { throw usage("--\(option) does not go with \(action)") }
        let given = arguments.operands.dropFirst()
        if given.count > operands { throw usage("\(action) takes no argument \(Shown.quoted(given.last ?? ""))") }
    }

    private func usage(_ message: String) -> CommandFault { CommandFault(.usage, "outbox: \(message)") }
}
