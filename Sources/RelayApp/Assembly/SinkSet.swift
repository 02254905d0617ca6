internal import GLibRuntime
internal import RelayCore
internal import RelayJournal

/// The sinks of the rules file in force, each with the worker that delivers to it.
///
/// A sink keeps its worker and its connections as long as the file and its secrets say the same of it.
@MainLoop
final class SinkSet {
    private struct Entry {
        var prepared: PreparedSink
        var sink: any Sink
        var worker: OutboxWorker
        var task: LongTask
    }

    private let journal: any Journal
    private let clock: any RelayClock
    private let log: Log
    private let factory: SinkFactory
    private let tasks: LongTasks
    private var entries: [Entry] = []
    /// The last worker of each sink that is no longer in the file, until its attempts have ended.
    private var leaving: [String: LongTask] = [:]

    /// Creates a set without sinks, whose workers run among `tasks`.
    init(journal: any Journal, factory: SinkFactory, clock: any RelayClock, log: Log, tasks: LongTasks) {
        self.journal = journal
        self.factory = factory
        self.clock = clock
        self.log = log
        self.tasks = tasks
    }

    /// The sinks as they were made.
    var prepared: [PreparedSink] { entries.map(\.prepared) }

    /// The names of the sinks.
    var names: [String] { entries.map(\.prepared.configuration.name) }

    /// Why a sink takes nothing any more, by its name; absent for those that work.
    var stopped: [String: String] {
        entries.reduce(into: [:]) { $0[$1.prepared.configuration.name] = $1.worker.stoppedBecause }
    }

    /// Delivers to these sinks from now on; what has not changed goes on as it is.
    func adopt(_ sinks: [PreparedSink], output: StandardOutput?) {
        let former = entries
        entries = sinks.map { sink in
            let name = sink.configuration.name
            guard let known = former.first(where: { $0.prepared.configuration.name == name }) else {
                return start(sink, output, after: leaving.removeValue(forKey: name))
            }
            if known.prepared.isSame(as: sink) { return known }
            return start(sink, output, after: retire(known))
        }
        let names = Set(names)
        for entry in former where !names.contains(entry.prepared.configuration.name) {
            leaving[entry.prepared.configuration.name] = retire(entry)
        }
    }

    /// Delivers what is due, and then nothing more.
    func drain() async {
        for entry in entries { await entry.worker.drain() }
    }

    /// Delivers only what is in hand, and then nothing more.
    func retire() async {
        for entry in entries { await entry.worker.retire() }
    }

    /// Returns when no worker runs any more, or `deadline` has come.
    func ended(by deadline: Instant) async {
        for task in entries.map(\.task) + leaving.values { await task.ended(by: deadline, on: clock) }
    }

    /// Starts the sinks that have stopped, or the one with this name if it has.
    func startAgain(_ name: String?) async {
        for entry in entries where name == nil || name == entry.prepared.configuration.name {
            await entry.worker.start()
        }
    }

    /// Releases what the sinks hold; no worker runs any more.
    func close() async {
        for entry in entries { await entry.sink.close() }
    }

    private func start(_ prepared: PreparedSink, _ output: StandardOutput?, after former: LongTask?) -> Entry {
        let sink = factory.make(prepared, output: output)
        var policy = OutboxWorker.Policy()
        policy.backlog = prepared.configuration.backlog
        let worker = OutboxWorker(sink: sink, journal: journal, clock: clock, log: log, policy: policy)
        let task = tasks.start {
            await former?.ended()
            await worker.run()
        }
        return Entry(prepared: prepared, sink: sink, worker: worker, task: task)
    }

    /// Lets the attempts of a sink end and closes it; returns the task in which that happens.
    private func retire(_ entry: Entry) -> LongTask {
        tasks.start {
            await entry.worker.retire()
            await entry.task.ended()
            await entry.sink.close()
        }
    }
}
