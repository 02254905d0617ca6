internal import GLibRuntime
internal import RelayCore
internal import RelayRules

/// `test --expect`: runs every case of a file of expectations and tells which hold.
@MainLoop
struct ExpectationRun {
    private let arguments: ParsedArguments
    private let path: String
    private let clock: any RelayClock

    /// The most deliveries of one case that are kept to be compared.
    private static let mostDeliveries = 100_000

    /// Creates the run of the file at `path`.
    init(_ arguments: ParsedArguments, path: String, clock: any RelayClock) {
        self.arguments = arguments
        self.path = path
        self.clock = clock
    }

    /// Runs the cases.
    ///
    /// - Returns: 1 if one fails, or an event could not be used.
    /// - Throws: `CommandFault` for a wrong file (78), or events that cannot be read (1).
    func run() throws(CommandFault) -> ExitCode {
        for option in ["json", "sink"] where arguments.has(option) {
            throw CommandFault(.usage, "--\(option) and --expect exclude each other")
        }
        let file = try CommandRules.file(path)
        let problems = Problems()
        guard let node = ConfigurationParser.parse(file.text, problems: problems) else {
            throw CommandFault(.configuration, problems.lines(file: path))
        }
        let configuration = try TrialInput.configuration(
            arguments.options["rules"] ?? ExpectationsReader.rulesPath(in: node, folder: file.folder))
        var reader = ExpectationsReader(
            sinkNames: configuration.rules.sinkNames, folder: file.folder, hasOperand: arguments.operand != nil,
            problems: problems)
        guard let expectations = reader.read(node) else {
            throw CommandFault(.configuration, problems.lines(file: path))
        }
        let until = try TrialInput.time(arguments, "until", expectations.times)
        var failed = 0
        for var `case` in expectations.cases {
            `case`.until = `case`.until ?? until
            if try !holds(`case`, configuration, expectations.times) { failed += 1 }
        }
        let count = expectations.cases.count
        Console.print("\(TrialWords.counted(count, "case")), \(failed) failed")
        return failed == 0 ? .done : .failed
    }

    /// Runs a case and tells how it ended.
    private func holds(
        _ item: Expectations.Case, _ configuration: RelayConfiguration, _ times: ZonedTime
    ) throws(CommandFault) -> Bool {
        let recorder = DeliveryRecorder(sinks: item.sinks, most: Self.mostDeliveries)
        let relay = VirtualRelay(configuration, observer: recorder)
        var lines = try feed(relay, item.given, configuration)
        let isClosed = try TrialInput.journal { () throws(JournalFailure) in
            guard relay.now != nil else { return true }
            guard let until = item.until else { return try relay.runOn() }
            try relay.advance(to: until)
            return true
        }
        if !isClosed { lines.append("  something stays open for ever; give \"until\"") }
        if recorder.omitted > 0 {
            lines.append("  \(recorder.omitted) deliveries more than the \(Self.mostDeliveries) that can be compared")
        }
        lines += ExpectationCheck(item.expected, recorder.seen, isExact: item.isExact, file: path, times: times).lines
        Console.print("\(lines.isEmpty ? "ok    " : "FAILED") \(Shown.printable(item.name))")
        for line in lines { Console.print(line) }
        return lines.isEmpty
    }

    /// Gives the events of a case to the relay; returns lines about what was no event.
    private func feed(
        _ relay: VirtualRelay, _ given: Expectations.Given, _ configuration: RelayConfiguration
    ) throws(CommandFault) -> [String] {
        let source = try TrialInput.source(arguments, configuration)
        var lines: [String] = []
        var name = path
        func complain(_ complaint: EventSource.Complaint) {
            let excerpt = complaint.excerpt.isEmpty ? "" : ": \(complaint.excerpt)"
            // An event without a time would happen at another time in every run.
            guard complaint.isLoss || complaint.isTimeless else { return }
            lines.append("  \(Shown.printable(name)):\(complaint.line): \(complaint.sentence)\(excerpt)")
        }
        func take(_ found: EventSource.Found) throws(CommandFault) {
            let instant = max(relay.now ?? found.event.record.createdAt, found.event.record.createdAt)
            try TrialInput.journal { () throws(JournalFailure) in
                if found.isRepeated { try relay.advance(to: instant) } else { try relay.take(found.event, at: instant) }
            }
        }
        let start = clock.wallNow()
        guard case .inline(let events) = given else {
            let input = try TrialInput.open(Self.path(given) ?? arguments.operand)
            defer { input.close() }
            name = input.name
            let failure = try source.read(
                input.descriptor, now: { relay.now ?? start }, complain: complain, take: take)
            if let failure { throw CommandFault(.failed, "\(name) cannot be read: \(failure)") }
            return lines
        }
        for event in events {
            try source.read(event.json, line: event.line, now: relay.now ?? start, complain: complain, take: take)
        }
        return lines
    }

    private static func path(_ given: Expectations.Given) -> String? {
        if case .file(let path) = given { return path }
        return nil
    }
}

/// Keeps what some sinks get.
@MainLoop
final class DeliveryRecorder: VirtualRelayObserver {
    /// What they got.
    private(set) var seen: [SeenDelivery] = []
    /// How many deliveries were not kept.
    private(set) var omitted = 0
    private let sinks: Set<String>?
    private let most: Int

    /// Creates a recorder of these sinks, or of all.
    init(sinks: [String]?, most: Int) {
        self.sinks = sinks.map { Set($0) }
        self.most = most
    }

    func decided(_ event: Event, _ outcomes: [EffectOutcome], at instant: Instant) {}

    func delivered(_ delivery: Delivery, at instant: Instant) {
        guard sinks?.contains(delivery.sink) ?? true else { return }
        if seen.count < most { seen.append(SeenDelivery(at: instant, delivery: delivery)) } else { omitted += 1 }
    }

    func limited(_ count: ReceiptCount, at instant: Instant) {}
}
