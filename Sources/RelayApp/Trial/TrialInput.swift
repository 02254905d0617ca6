internal import GLibRuntime
internal import Glibc
internal import RelayCore
internal import RelaySinks
internal import RelayStream

/// What the commands that try rules make of their arguments.
enum TrialInput {
    /// A file of events that is open.
    struct File {
        /// Its name for messages.
        var name: String
        /// Its descriptor.
        var descriptor: Int32

        /// Closes it, unless it is standard input.
        func close() {
            if descriptor != 0 { Glibc.close(descriptor) }
        }
    }

    /// Refuses rules and events that are both to come from standard input; `things` are the events in words.
    static func checkInputs(_ arguments: ParsedArguments, _ things: String) throws(CommandFault) {
        let isRead = arguments.operand.map { $0 == CommandRules.standardInput } ?? true
        guard isRead, arguments.options["rules"] == CommandRules.standardInput else { return }
        throw CommandFault(.usage, "the rules and \(things) cannot both come from standard input")
    }

    /// Reads the rules; their warnings are for `check` to tell.
    static func configuration(_ option: String?) throws(CommandFault) -> RelayConfiguration {
        let path = try CommandRules.path(option: option)
        return try CommandRules.load(path).1
    }

    /// Returns the time that an option names.
    static func time(_ arguments: ParsedArguments, _ option: String, _ times: ZonedTime) throws(CommandFault)
        -> Instant?
    {
        guard let text = arguments.options[option] else { return nil }
        if !ZonedTime.hasOffset(text), let fault = times.fault { throw CommandFault(.failed, "--\(option): \(fault)") }
        if let instant = times.instant(text) { return instant }
        let shown = Shown.printable(Shown.quoted(text))
        throw CommandFault(.usage, "--\(option) is a time like \(ZonedTime.forms), not \(shown)")
    }

    /// Returns the value of an option that is one of `names`.
    static func name(
        _ arguments: ParsedArguments, _ option: String, among names: [String]
    ) throws(CommandFault) -> String? {
        guard let text = arguments.options[option] else { return nil }
        if names.contains(text) { return text }
        let suggestion = NearestName.suggestion(for: text, among: names)
        let choice = suggestion.isEmpty ? "; there are \(names.joined(separator: ", "))" : suggestion
        throw CommandFault(
            .usage, Shown.printable("--\(option): the rules file has no \(option) \(Shown.quoted(text))\(choice)"))
    }

    /// Makes the source of events of the rules file's streams, as `--stream` says.
    @MainLoop
    static func source(
        _ arguments: ParsedArguments, _ configuration: RelayConfiguration
    ) throws(CommandFault) -> EventSource {
        let streams = configuration.streams.map(\.connection.name)
        let name = try name(arguments, "stream", among: streams)
        return EventSource(configuration.streams, named: name.flatMap { streams.firstIndex(of: $0) } ?? 0)
    }

    /// Opens a file of events; without a path, or with `-`, standard input.
    static func open(_ path: String?) throws(CommandFault) -> File {
        guard let path, path != "-" else {
            if path == nil, isatty(0) == 1 { Console.complain("chirp-relay: reading events from standard input") }
            return File(name: "standard input", descriptor: 0)
        }
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw CommandFault(.failed, Shown.printable("\(path) cannot be read: \(reason)"))
        }
        return File(name: path, descriptor: descriptor)
    }

    /// How text on standard output looks.
    static var style: TextLine.Style {
        let environment = ["NO_COLOR", "TERM"].reduce(into: [:]) { variables, name in
            variables[name] = SecretReader.processEnvironment(name)
        }
        return TextLine.Style.standard(isTerminal: isatty(1) == 1, environment: environment)
    }

    /// Turns a failure of the journal into the end of the command.
    @MainLoop
    static func journal<Result>(_ body: () throws(JournalFailure) -> Result) throws(CommandFault) -> Result {
        do throws(JournalFailure) {
            return try body()
        } catch {
            throw CommandFault(.failed, error.description)
        }
    }
}

/// Tells what could not be used as an event, the first ones in full.
@MainLoop
final class Complaints {
    /// What was lost.
    private(set) var lost = 0
    private var told = 0
    private let file: String
    private let output: OutputBlock

    /// How many are told.
    private static let most = 20

    /// Creates an empty list for a file.
    init(file: String, output: OutputBlock) {
        self.file = file
        self.output = output
    }

    /// Adds one.
    func add(_ complaint: EventSource.Complaint) {
        if complaint.isLoss { lost += 1 }
        told += 1
        guard told <= Self.most else { return }
        // What came before it stands before it, where both go to one terminal.
        output.write()
        let excerpt = complaint.excerpt.isEmpty ? "" : ": \(complaint.excerpt)"
        Console.complain("\(Shown.printable(file)):\(complaint.line): \(complaint.sentence)\(excerpt)")
    }

    /// Tells how many were not told.
    func end() {
        if told > Self.most {
            Console.complain("\(Shown.printable(file)): \(told - Self.most) more complaints are not shown")
        }
    }
}

/// Shows the progress of a try on standard error, if that is a terminal.
@MainLoop
final class ProgressWatch {
    private let clock: any RelayClock
    private let isShown = isatty(2) == 1
    private var progress: Progress
    private var events = 0

    /// How many events pass between two looks at the clock.
    private static let stride = 1000

    /// Creates the progress of a try that begins now, of so many events if that is known.
    init(_ clock: any RelayClock, output: OutputBlock, of total: Int? = nil) {
        self.clock = clock
        progress = Progress(at: clock.now(), of: total)
        if isShown, isatty(1) == 1 { output.beforeWrite = { [weak self] in self?.end() } }
    }

    /// Counts events.
    func count(_ more: Int = 1) {
        let strides = events / Self.stride
        events += more
        guard isShown, events / Self.stride > strides else { return }
        if let line = progress.line(events: events, at: clock.now()) { Console.complain(line, newline: false) }
    }

    /// Takes the line off the terminal.
    func end() {
        if isShown, progress.takeDown() { Console.complain(Progress.erasure, newline: false) }
    }
}
