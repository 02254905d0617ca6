internal import GLibRuntime
internal import RelayCore

/// `silence`: adds, lists and removes the silences of a relay, whether it runs or not.
struct SilenceCommand {
    private let arguments: ParsedArguments

    private static let actions = ["add", "list", "remove"]
    private static let matchers = ["kind", "actor", "post", "rule", "sink", "stream"]

    /// Takes the arguments of the command.
    init(_ arguments: ParsedArguments) {
        self.arguments = arguments
    }

    /// Asks the relay.
    ///
    /// - Throws: `CommandFault` for wrong words (64), or if no relay runs or it refuses (1).
    func run(now: Instant = Instant(milliseconds: WallTime.milliseconds())) async throws(CommandFault) -> ExitCode {
        switch arguments.operand {
        case "add":
            try allow(Self.matchers + ["for", "until"], operands: 1)
            try await add(now)
        case "list":
            try allow(["json"], operands: 1)
            try await list()
        case "remove":
            try allow(["all"], operands: 2)
            try await remove()
        case let action?:
            let suggestion = NearestName.suggestion(for: action, among: Self.actions)
            throw usage("there is add, list and remove, not \(Shown.quoted(action))\(suggestion)")
        case nil: throw usage("say what to do: add, list or remove")
        }
        return .done
    }

    private func add(_ now: Instant) async throws(CommandFault) {
        let asked = Self.matchers.compactMap { name in
            arguments.options[name].map { (name: name, value: JSONValue.string($0)) }
        }
        if asked.isEmpty {
            throw usage("say what to silence: \(Self.matchers.map { "--\($0)" }.joined(separator: ", "))")
        }
        let request = JSONValue.object([("request", "silence.add")] + asked + [try end(now)])
        let answer = try await ControlDesk(arguments).ask(request)
        for warning in answer["warnings"]?.list ?? [] {
            Console.complain(Shown.printable("warning: \(warning.text ?? "")"))
        }
        guard let silence = answer["silence"].flatMap(Row.init) else { return }
        Console.print("silence \(silence.id) until \(silence.until): \(silence.what)")
    }

    /// The end as the relay takes it.
    private func end(_ now: Instant) throws(CommandFault) -> (name: String, value: JSONValue) {
        switch (arguments.options["for"], arguments.options["until"]) {
        case (let text?, nil):
            guard let duration = DurationText.parse(text), duration > .zero else {
                throw usage("--for is a duration such as 90s, 15m, 1h30m or 2d, not \(Shown.quoted(text))")
            }
            return ("for", .string(text))
        case (nil, let text?):
            let times = ZonedTime()
            if !ZonedTime.hasOffset(text), let fault = times.fault { throw CommandFault(.failed, "--until: \(fault)") }
            guard let until = times.coming(text, after: now) else {
                throw usage("--until is a time such as \(ZonedTime.comingForms), not \(Shown.quoted(text))")
            }
            if until <= now { throw usage("--until \(text) lies in the past") }
            return ("until", .time(until))
        default: throw usage("say when it ends, with one of --for and --until")
        }
    }

    private func list() async throws(CommandFault) {
        let answer = try await ControlDesk(arguments).ask(.object([("request", "silence.list")]))
        let silences = answer["silences"]?.list ?? []
        if arguments.has("json") {
            for silence in silences { Console.print(String(decoding: JSONValue(silence).line, as: UTF8.self)) }
            return
        }
        let rows = silences.compactMap(Row.init)
        if rows.isEmpty { return Console.print("there are no silences") }
        Console.print(TextTable.text(["ID", "UNTIL", "WHAT"], rows.map { [$0.id, $0.until, $0.what] }))
    }

    private func remove() async throws(CommandFault) {
        let words = arguments.operands.dropFirst()
        var request: [(name: String, value: JSONValue)] = [("request", "silence.remove")]
        switch (words.first, arguments.has("all")) {
        case (let word?, false):
            guard let id = Int(word), id > 0 else { throw usage("an id is a number, not \(Shown.quoted(word))") }
            request.append(("id", .number(id)))
        case (nil, true): request.append(("all", true))
        default: throw usage("remove what? give an id, as `silence list` shows it, or --all")
        }
        let answer = try await ControlDesk(arguments).ask(.object(request))
        let count = answer["removed"]?.text ?? "0"
        Console.print("\(count) \(count == "1" ? "silence" : "silences") removed")
    }

    /// Refuses options that belong to another action.
    private func allow(_ options: [String], operands: Int) throws(CommandFault) {
        let action = arguments.operand ?? ""
        let foreign = arguments.options.keys.filter { !(options + ["state", "no-state", "rules"]).contains($0) }
            .sorted()
        if let option = foreign.first { throw usage("--\(option) does not go with \(action)") }
        if arguments.operands.count > operands {
            throw usage("\(action) takes no argument \"\(arguments.operands[1])\"")
        }
    }

    private func usage(_ message: String) -> CommandFault { CommandFault(.usage, "silence: \(message)") }

    /// A silence as people see it.
    private struct Row {
        var id: String
        var until: String
        var what: String

        init?(_ node: ConfigurationNode) {
            guard let id = node["id"]?.text, let time = node["until"]?.text,
                let until = TimestampText.parse(time.utf8Span.span.bytes)
            else { return nil }
            self.id = id
            self.until = LocalTime.dateAndMinute(ofMilliseconds: until.milliseconds)
            what = SilenceCommand.matchers.compactMap { name in
                node[name]?.text.map { Shown.printable("\(name) \($0)") }
            }.joined(separator: ", ")
        }
    }
}

extension JSONValue {
    /// The value of an answer, to be printed again.
    fileprivate init(_ node: ConfigurationNode) {
        switch node.value {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .number(let text): self = Int(text).map { .number($0) } ?? .null
        case .string(let text): self = .string(text)
        case .array(let nodes): self = .array(nodes.map(JSONValue.init))
        case .object(let members): self = .object(members.map { ($0.key, JSONValue($0.value)) })
        }
    }
}
