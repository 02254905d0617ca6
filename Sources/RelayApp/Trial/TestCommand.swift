internal import GLibRuntime
internal import Glibc
internal import RelayCore
internal import RelayRules
internal import RelaySinks

/// `test`: tries the rules on events in virtual time, and prints what would happen, or checks expectations.
struct TestCommand {
    private let arguments: ParsedArguments
    private let clock: any RelayClock

    /// Takes the arguments of the command.
    init(_ arguments: ParsedArguments, clock: any RelayClock = SystemClock()) {
        self.arguments = arguments
        self.clock = clock
    }

    /// Tries the rules.
    ///
    /// - Returns: 1 if an event could not be used or an expectation fails.
    /// - Throws: `CommandFault` for wrong options (64), wrong rules or expectations (78), or events that cannot be read (1).
    @MainLoop
    func run() async throws(CommandFault) -> ExitCode {
        if let path = arguments.options["expect"] {
            return try ExpectationRun(arguments, path: path, clock: clock).run()
        }
        try TrialInput.checkInputs(arguments, "the events")
        let configuration = try TrialInput.configuration(arguments.options["rules"])
        let times = ZonedTime()
        let until = try TrialInput.time(arguments, "until", times)
        let plan = configuration.rules.plan
        let names = TrialNames(plan, shown: try TrialInput.name(arguments, "sink", among: plan.sinkNames))
        let source = try TrialInput.source(arguments, configuration)
        let input = try TrialInput.open(arguments.operand)
        defer { input.close() }
        let output = OutputBlock()
        let trial = Trial(names, report: report(configuration.rules, names, output, times))
        let relay = VirtualRelay(configuration, observer: trial)
        var lost = 0
        do {
            lost = try feed(relay, trial, from: source, input, output)
            let isClosed = try finish(relay, until: until)
            if !arguments.has("json") { tell(trial.summary, relay, isClosed: isClosed, times, output) }
        } catch {
            output.write()
            throw error
        }
        output.write()
        try output.check()
        TrialWords.tellOverruns(of: configuration.rules)
        if lost > 0 {
            Console.complain("chirp-relay: \(TrialWords.counted(lost, "thing")) could not be used as events")
        }
        return lost > 0 ? .failed : .done
    }

    @MainLoop
    private func report(
        _ rules: RuleSet, _ names: TrialNames, _ output: OutputBlock, _ times: ZonedTime
    ) -> any TrialReport {
        if arguments.has("json") { return TrialJSON(names, output: output) }
        return TrialText(rules, names, output: output, times: times, style: TrialInput.style)
    }

    /// Gives all events to the relay; returns how many things were no events.
    @MainLoop
    private func feed(
        _ relay: VirtualRelay, _ trial: Trial, from source: EventSource, _ input: TrialInput.File,
        _ output: OutputBlock
    ) throws(CommandFault) -> Int {
        let complaints = Complaints(file: input.name, output: output)
        let watch = ProgressWatch(clock, output: output)
        // An event without a time comes when the one before it came, the first one now.
        let start = clock.wallNow()
        let failure = try source.read(
            input.descriptor, now: { relay.now ?? start }, complain: complaints.add
        ) { (found) throws(CommandFault) in
            let createdAt = found.event.record.createdAt
            let instant = max(relay.now ?? createdAt, createdAt)
            if found.isRepeated {
                try TrialInput.journal { () throws(JournalFailure) in try relay.advance(to: instant) }
                trial.passOver(found.event, at: instant)
            } else {
                try TrialInput.journal { () throws(JournalFailure) in try relay.take(found.event, at: instant) }
            }
            try output.check()
            watch.count()
        }
        watch.end()
        complaints.end()
        if source.nameless > 0, !arguments.has("stream") {
            Console.complain(
                "chirp-relay: \(TrialWords.counted(source.nameless, "event")) without a stream's name taken as of "
                    + "\"\(Shown.printable(source.standardStream))\"; see --stream")
        }
        if let failure { throw CommandFault(.failed, "\(input.name) cannot be read: \(failure)") }
        return complaints.lost
    }

    /// Lets time run on; returns false if something is open then.
    @MainLoop
    private func finish(_ relay: VirtualRelay, until: Instant?) throws(CommandFault) -> Bool {
        guard relay.now != nil else { return true }
        return try TrialInput.journal { () throws(JournalFailure) in
            guard let until else { return try relay.runOn() }
            try relay.advance(to: until)
            return relay.open.isEmpty
        }
    }

    @MainLoop
    private func tell(
        _ summary: TrialSummary, _ relay: VirtualRelay, isClosed: Bool, _ times: ZonedTime, _ output: OutputBlock
    ) {
        var lines = [
            "", "\(TrialWords.counted(summary.events, "event")), \(summary.repeated) of a known id passed over",
        ]
        if let now = relay.now {
            lines[1] += "; virtual time ends \(times.text(now))"
            lines += summary.lines()
        }
        if !isClosed {
            let open = relay.open.map { "\($0.sink) \($0.count)" }.joined(separator: ", ")
            lines.append("still open, and not told yet: effects of \(open)")
        }
        output.bytes.append(contentsOf: lines.joined(separator: "\n").utf8)
        output.bytes.append(UInt8(ascii: "\n"))
    }
}
