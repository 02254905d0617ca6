internal import GLibRuntime
internal import Glibc
internal import RelayCore
internal import RelaySinks

/// Standard output as the one sink that may have it: its queue, its fast path, and what becomes of it.
@MainLoop
final class StandardOutput {
    /// The name of the sink.
    let name: String
    /// What the sink's keys say.
    let configuration: StdoutConfiguration
    /// How text lines look.
    let style: TextLine.Style
    /// The queue of lines.
    let queue: LineQueue
    /// The fast path.
    let lines: StdoutLines

    /// Called when producers must pause (true) and when they may go on (false).
    var onFull: (@MainLoop (Bool) -> Void)?
    /// Called once, when nobody reads standard output any more.
    var onOff: (@MainLoop () -> Void)?

    private let log: Log
    private let waits: Bool
    private let isDurable: Bool

    /// Finds the `stdout` sink among `sinks` and starts its queue; nil if there is none.
    init?(_ sinks: [SinkConfiguration], descriptor: Int32, log: Log) {
        let found = sinks.lazy.compactMap { sink -> (SinkConfiguration, StdoutConfiguration)? in
            if case .stdout(let configuration) = sink.kind { return (sink, configuration) }
            return nil
        }
        guard let (sink, configuration) = found.first else { return nil }
        name = sink.name
        isDurable = sink.isDurable
        self.configuration = configuration
        self.log = log
        let whenFull = configuration.whenFull ?? (sinks.count == 1 ? .wait : .drop)
        waits = whenFull == .wait
        let environment = ["NO_COLOR", "TERM"].reduce(into: [:]) { variables, name in
            variables[name] = SecretReader.processEnvironment(name)
        }
        style = TextLine.Style.standard(isTerminal: isatty(descriptor) == 1, environment: environment)
        let reports = Reports()
        queue = LineQueue(descriptor: descriptor, whenFull: whenFull) { report in
            MainLoop.post { reports.handler?(report) }
        }
        lines = StdoutLines(queue: queue, format: configuration.format, style: style)
        reports.handler = { [weak self] in self?.handle($0) }
        lines.onNoRoom = { [weak self] in self?.tellWhetherFull() }
    }

    /// The counters of the fast path; those of a durable sink are the journal's.
    var counters: SinkCounters {
        guard !isDurable else { return SinkCounters() }
        let counts = queue.counts
        var counters = SinkCounters()
        counters.effects = counts.accepted + counts.dropped
        counters.delivered = counts.written
        counters.dead = counts.lost + counts.dropped
        counters.pending = counts.accepted - counts.settled
        return counters
    }

    /// Waits until all lines are written, or `limit` has passed.
    func flush(within limit: Duration, clock: any RelayClock) async {
        await queue.flush(until: clock.now() + limit, clock: clock)
        queue.close()
    }

    private func handle(_ report: LineQueue.Report) {
        switch report {
        case .full:
            log(.warning, "stdout", waits ? "nobody reads; the streams pause" : "nobody reads; new lines are dropped")
            tellWhetherFull()
        case .room(let dropped):
            log(.info, "stdout", "it flows again", [("dropped", String(dropped))])
            tellWhetherFull()
        case .losing(let reason):
            log(.error, "stdout", "lines are lost", [("because", reason)])
        case .writing(let lost):
            log(.info, "stdout", "lines are written again", [("lost", String(lost))])
        case .off(let reason):
            log(.error, "stdout", "the sink is off", [("because", reason)])
            tellWhetherFull()
            onOff?()
        }
    }

    /// Asks the queue instead of trusting the report: two threads report, so the order need not be that of the events.
    private func tellWhetherFull() {
        if waits { onFull?(queue.isFull) }
    }

    /// Lets the queue, which is made first, report to the object that owns it.
    @MainLoop
    private final class Reports {
        var handler: (@MainLoop (LineQueue.Report) -> Void)?
    }
}
