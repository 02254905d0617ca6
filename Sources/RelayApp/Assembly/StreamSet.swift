internal import GLibRuntime
internal import RelayCore
internal import RelayJournal
internal import RelayStream

/// The streams of the rules file in force: each with its reader, and with the flow that its events take.
///
/// A stream keeps its flow, with the ids it has seen, as long as its name is in the file, and its connection as long as
/// the file says the same of it.
@MainLoop
final class StreamSet: ProgressSource {
    private struct Entry {
        var stream: RelayConfiguration.Stream
        var flow: EventFlow
        var reader: StreamReader
        var task: LongTask
    }

    private let parts: Relay.Parts
    private let accepter: Accepter
    private let receipts: ReceiptTable
    private let tasks: LongTasks
    private let transport = SocketTransport()
    /// Standard output, whose lines must be written before what they tell of can be saved.
    var output: StandardOutput?
    private var entries: [Entry] = []
    /// What streams counted that are no longer in the file.
    private var past = EventFlow.Counters()
    private var silences = SilenceBook()
    private var pressure = Pressure()

    /// Creates a set without streams, whose readers run among `tasks`.
    init(_ parts: Relay.Parts, accepter: Accepter, receipts: ReceiptTable, tasks: LongTasks) {
        self.parts = parts
        self.accepter = accepter
        self.receipts = receipts
        self.tasks = tasks
    }

    /// The names of the streams.
    var names: [String] { entries.map(\.stream.connection.name) }

    /// What the streams are doing.
    var statuses: [StreamStatus] { entries.map(\.reader.status) }

    /// What all streams counted since the start.
    var counters: EventFlow.Counters {
        entries.reduce(into: past) { $0.add($1.flow.counters) }
    }

    /// The receipts of the fast path by rule, sink and reason, since the start.
    var allReceipts: [ReceiptCount] {
        let all = ReceiptTable()
        all.add(receipts.all)
        for entry in entries { all.add(entry.flow.openReceipts) }
        return all.all
    }

    /// Holds these streams from now on and decides by these rules; what has not changed goes on as it is.
    ///
    /// `saved` is what the journal has of new streams, by name; nothing if it keeps no progress.
    func adopt(_ streams: [RelayConfiguration.Stream], _ rules: RulesInForce, saved: [String: StreamProgress]) {
        let former = entries
        entries = streams.map { stream in
            guard let known = former.first(where: { $0.stream.connection.name == stream.connection.name }) else {
                return start(stream, rules, saved[stream.connection.name])
            }
            known.flow.adopt(rules)
            return known.stream.fingerprint == stream.fingerprint ? known : restart(known, as: stream)
        }
        let names = Set(names)
        for entry in former where !names.contains(entry.stream.connection.name) {
            entry.task.cancel()
            entry.flow.close()
            past.add(entry.flow.counters)
        }
    }

    func takeProgress(committed: Int) -> [StreamProgress] {
        let position = FlowProgress.Position(intakes: committed, lines: output?.settledLines ?? 0)
        return entries.compactMap { $0.flow.takeProgress(before: position) }
    }

    var hasProgress: Bool { entries.contains { $0.flow.hasProgress } }

    /// Silences what these cover, on the fast path.
    func silence(_ silences: SilenceBook) {
        self.silences = silences
        for entry in entries { entry.flow.silence(silences) }
    }

    /// The events with an id of which nothing was recorded, of the last ones of a stream, or of all.
    func recentStories(of id: EventID, in stream: String?) -> [HistoryEntry] {
        entries.filter { stream == nil || stream == $0.stream.connection.name }
            .flatMap { $0.flow.recentStories(of: id) }
    }

    /// Pauses reading while anything is full.
    func press(_ source: Pressure.Source, _ isFull: Bool) {
        guard pressure.set(source, isFull) else { return }
        for entry in entries {
            if pressure.isOn { entry.reader.pause() } else { entry.reader.resume() }
        }
    }

    /// Closes all connections and waits for that.
    func end() async {
        for entry in entries { entry.task.cancel() }
        for entry in entries { await entry.task.ended() }
    }

    private func start(
        _ stream: RelayConfiguration.Stream, _ rules: RulesInForce, _ saved: StreamProgress?
    ) -> Entry {
        let flow = EventFlow(
            stream, saved: saved, rules: rules, accepter: accepter, receipts: receipts, clock: parts.clock,
            log: parts.log, onEvents: parts.onEvents)
        flow.silence(silences)
        let reader = reader(stream, flow)
        return Entry(stream: stream, flow: flow, reader: reader, task: tasks.start { await reader.run() })
    }

    /// Closes the connection of a stream and dials as the file now says.
    private func restart(_ former: Entry, as stream: RelayConfiguration.Stream) -> Entry {
        let (flow, reader) = (former.flow, reader(stream, former.flow))
        former.task.cancel()
        let task = tasks.start {
            await former.task.ended()
            if Task.isCancelled { return }
            flow.adopt(stream)
            await reader.run()
        }
        return Entry(stream: stream, flow: flow, reader: reader, task: task)
    }

    private func reader(_ stream: RelayConfiguration.Stream, _ flow: EventFlow) -> StreamReader {
        var surroundings = StreamReader.Surroundings(
            secrets: parts.secrets, clock: parts.clock, log: parts.log, transport: transport)
        surroundings.catchUp = StreamReader.CatchUpTarget(handler: flow, format: stream.format)
        let reader = StreamReader(stream.connection, handler: flow, surroundings: surroundings)
        if pressure.isOn { reader.pause() }
        return reader
    }
}

/// Why the streams do not read.
struct Pressure {
    /// Something that can be full.
    enum Source: Hashable {
        case commits, standardOutput
    }

    private var sources: Set<Source> = []

    /// Whether anything is full.
    var isOn: Bool { !sources.isEmpty }

    /// Notes that `source` is full or not; returns whether that changes `isOn`.
    mutating func set(_ source: Source, _ isFull: Bool) -> Bool {
        let before = isOn
        if isFull { sources.insert(source) } else { sources.remove(source) }
        return isOn != before
    }
}
