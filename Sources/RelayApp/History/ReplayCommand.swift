internal import GLibRuntime
internal import RelayCore
internal import RelayJournal
internal import RelayRules

/// `replay`: runs recorded events through another rules file in virtual time, and compares what each sink got.
struct ReplayCommand {
    private let arguments: ParsedArguments
    private let clock: any RelayClock

    /// Takes the arguments of the command.
    init(_ arguments: ParsedArguments, clock: any RelayClock = SystemClock()) {
        self.arguments = arguments
        self.clock = clock
    }

    /// Replays the events.
    ///
    /// - Throws: `CommandFault` for wrong options (64), wrong rules (78), or if there is nothing to replay (1).
    @MainLoop
    func run() async throws(CommandFault) -> ExitCode {
        guard let path = arguments.options["rules"] else {
            throw CommandFault(.usage, "replay: by which rules? give --rules FILE")
        }
        let times = ZonedTime()
        let since = try HistoryTime.instant(arguments, "since", now: clock.wallNow(), times)
        let configuration = try CommandRules.load(path).1
        let reader = try JournalPlace.reader(arguments)
        let (total, unrecorded, former) = try JournalPlace.told { () throws(JournalReader.Fault) in
            (
                try reader.recordedCount(since: since), try reader.unrecordedCount(since: since),
                try reader.namesInForce()
            )
        }
        if total == 0 { throw try nothing(unrecorded) }
        let output = OutputBlock()
        let run = ReplayRun(reader, configuration)
        let relay = VirtualRelay(configuration, observer: run)
        let watch = ProgressWatch(clock, output: output, of: total)
        try run.feed(relay, since: since, watch)
        let isClosed = try TrialInput.journal { () throws(JournalFailure) in try relay.runOn() }
        watch.end()
        let comparison = ReplayComparison(
            recorded: run.recorded.deliveries, replayed: run.replayed, plan: configuration.rules.plan, former: former)
        if arguments.has("json") {
            for value in comparison.json + [summary(run, unrecorded)] {
                output.bytes.append(contentsOf: value.line + [UInt8(ascii: "\n")])
            }
        } else {
            let lines = head(run, unrecorded, times) + comparison.lines + notes(run) + [""]
            output.bytes.append(contentsOf: lines.joined(separator: "\n").utf8)
        }
        output.write()
        try output.check()
        complain(run, configuration, isClosed: isClosed)
        return .done
    }

    private func nothing(_ unrecorded: Int) throws(CommandFault) -> CommandFault {
        let directory = Shown.printable(try JournalPlace.directory(arguments))
        let period = arguments.has("since") ? " of that time" : ""
        var sentence = "the history in \(directory) holds no event\(period) to replay"
        if unrecorded > 0 {
            sentence +=
                "; not recorded, as nothing of it touched the journal: \(TrialWords.counted(unrecorded, "event")); "
                + "\"history\": {\"all\": true} records every event"
        }
        return CommandFault(.failed, sentence)
    }

    // MARK: Words

    @MainLoop
    private func head(_ run: ReplayRun, _ unrecorded: Int, _ times: ZonedTime) -> [String] {
        var line = TrialWords.counted(run.events, "recorded event")
        if let period = run.period {
            line += ", received \(times.text(period.first)) to \(times.text(period.last))"
        }
        var lines = [line]
        if unrecorded > 0 {
            lines.append(
                "not recorded, and so not compared, as nothing of it touched the journal: "
                    + TrialWords.counted(unrecorded, "event"))
        }
        return lines + ["deliveries, recorded -> by these rules"]
    }

    /// What the numbers alone do not say.
    @MainLoop
    private func notes(_ run: ReplayRun) -> [String] {
        let recorded = run.recorded
        return [
            ("digests and briefings still open, counted as the deliveries that they will be", recorded.open),
            ("effects and digests that found the outbox full, and led to no delivery", recorded.outboxFull),
            ("effects silenced then, as nothing is in a replay", recorded.silenced),
            ("digests and briefings not known any more, and not counted", recorded.forgotten),
        ].filter { $0.1 > 0 }.map { "\($0.0): \($0.1)" }
    }

    @MainLoop
    private func summary(_ run: ReplayRun, _ unrecorded: Int) -> JSONValue {
        .object([
            ("type", "summary"), ("events", .number(run.events)), ("notRecorded", .number(unrecorded)),
            ("first", .time(run.period?.first)), ("last", .time(run.period?.last)),
            ("open", .number(run.recorded.open)), ("outboxFull", .number(run.recorded.outboxFull)),
            ("silenced", .number(run.recorded.silenced)), ("forgotten", .number(run.recorded.forgotten)),
        ])
    }

    @MainLoop
    private func complain(_ run: ReplayRun, _ configuration: RelayConfiguration, isClosed: Bool) {
        TrialWords.tellOverruns(of: configuration.rules)
        for stream in run.foreignStreams.sorted() {
            Console.complain(
                Shown.printable(
                    "chirp-relay: these rules have no stream \(Shown.quoted(stream)), whose events were replayed all the same"
                ))
        }
        if !isClosed { Console.complain("chirp-relay: what is open stays open for ever: see the times of its rule") }
    }
}
