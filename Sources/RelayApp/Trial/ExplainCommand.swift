internal import GLibRuntime
internal import Glibc
internal import RelayCore
internal import RelayRules
internal import RelayStream

/// `explain`: shows what the rules make of one event, and why; or what became of one that was recorded.
struct ExplainCommand {
    private let arguments: ParsedArguments
    private let clock: any RelayClock

    /// The options that make an event.
    private static let fields = ["kind", "actor", "post", "text"]

    /// Takes the arguments of the command.
    init(_ arguments: ParsedArguments, clock: any RelayClock = SystemClock()) {
        self.arguments = arguments
        self.clock = clock
    }

    /// Explains an event.
    ///
    /// - Throws: `CommandFault` for wrong options or no event (64), wrong rules (78), or a file without an event (1).
    @MainLoop
    func run() async throws(CommandFault) -> ExitCode {
        try checkArguments()
        if let id = eventID { return try StoryCommand(arguments).run(id) }
        let configuration = try TrialInput.configuration(arguments.options["rules"])
        let times = ZonedTime()
        let at = try TrialInput.time(arguments, "at", times)
        let event = try event(configuration, at: at)
        let output = OutputBlock()
        let names = TrialNames(configuration.rules.plan, shown: nil)
        let trace = configuration.rules.explain(event, at: event.record.createdAt)
        let report: any TrialReport
        if arguments.has("json") {
            for step in trace.steps { TraceJSON.append(step, to: &output.bytes) }
            report = TrialJSON(names, output: output)
        } else {
            let lines = TraceText(trace, style: TrialInput.style).lines + ["", ""]
            output.bytes.append(contentsOf: lines.joined(separator: "\n").utf8)
            report = TrialText(
                configuration.rules, names, output: output, times: times, style: TrialInput.style)
        }
        let relay = VirtualRelay(configuration, observer: report)
        let isClosed = try TrialInput.journal { () throws(JournalFailure) in
            try relay.take(event, at: event.record.createdAt)
            return try relay.runOn()
        }
        output.write()
        try output.check()
        TrialWords.tellOverruns(of: configuration.rules)
        if !isClosed { Console.complain("chirp-relay: what is open stays open for ever: see the times of its rule") }
        return .done
    }

    /// The operand, if it is the id of an event of the history: there is no file of that name.
    private var eventID: String? {
        guard let operand = arguments.operand, operand != "-", access(operand, F_OK) != 0 else { return nil }
        return operand
    }

    private func checkArguments() throws(CommandFault) {
        let given = Self.fields.filter { arguments.has($0) }
        if arguments.operand != nil {
            if let field = given.first {
                throw CommandFault(.usage, "--\(field) makes an event; give it, or a FILE or an EVENT-ID")
            }
            if eventID == nil { try TrialInput.checkInputs(arguments, "the event") }
            return
        }
        guard arguments.has("kind") else {
            let reason = given.isEmpty ? "there is no event to explain" : "an event needs a kind"
            throw CommandFault(.usage, "\(reason); give EVENT-ID, a FILE, - for standard input, or --kind KIND")
        }
    }

    @MainLoop
    private func event(_ configuration: RelayConfiguration, at: Instant?) throws(CommandFault) -> Event {
        let now = at ?? clock.wallNow()
        var event: Event
        if arguments.operand == nil {
            event = try made(configuration, at: now)
        } else {
            event = try read(configuration, at: now)
        }
        if let at { event.record.createdAt = at }
        return event
    }

    /// Makes the event that the options describe, as the Chirp API would send it.
    @MainLoop
    private func made(_ configuration: RelayConfiguration, at now: Instant) throws(CommandFault) -> Event {
        let streams = configuration.streams.map(\.connection.name)
        let name = try TrialInput.name(arguments, "stream", among: streams)
        guard var stream = configuration.streams.first(where: { name == nil || $0.connection.name == name }) else {
            throw CommandFault(.configuration, "the rules have no stream")
        }
        stream.format = .chirp
        var json = Array(#"{"id":"\#(Self.madeID)","createdAt":"\#(TimestampText.format(now))""#.utf8)
        for (option, key) in [("kind", "kind"), ("actor", "actorUsername"), ("post", "postID"), ("text", "text")] {
            guard let value = arguments.options[option] else { continue }
            json.append(contentsOf: ",\"\(key)\":\"".utf8)
            JSONText.append(value, to: &json)
            json.append(UInt8(ascii: "\""))
        }
        json.append(UInt8(ascii: "}"))
        var made: Event?
        try EventSource([stream]).read(json, line: 1, now: now, complain: { _ in }) { (found) throws(CommandFault) in
            made = found.event.compacted()
        }
        guard let made else { throw CommandFault(.usage, "--kind and its companions make no event") }
        return made
    }

    /// The id of an event that the options describe.
    private static let madeID = "explained"

    /// Reads the first event of the file.
    @MainLoop
    private func read(_ configuration: RelayConfiguration, at now: Instant) throws(CommandFault) -> Event {
        let source = try TrialInput.source(arguments, configuration)
        let input = try TrialInput.open(arguments.operand)
        defer { input.close() }
        var first: Event?
        var more = 0
        var complaint: EventSource.Complaint?
        let failure = try source.read(
            input.descriptor, now: { now }, complain: { complaint = complaint ?? $0 }
        ) { (found) throws(CommandFault) in
            if first == nil { first = found.event.compacted() } else { more += 1 }
        }
        let name = Shown.printable(input.name)
        if let failure { throw CommandFault(.failed, "\(name) cannot be read: \(failure)") }
        if let complaint {
            let excerpt = complaint.excerpt.isEmpty ? "" : ": \(complaint.excerpt)"
            Console.complain("\(name):\(complaint.line): \(complaint.sentence)\(excerpt)")
        }
        guard let first else { throw CommandFault(.failed, "\(name) has no event to explain") }
        if more > 0 {
            Console.complain(
                "chirp-relay: \(name) has \(TrialWords.counted(more, "more event")); `test` tries them all")
        }
        return first
    }
}
