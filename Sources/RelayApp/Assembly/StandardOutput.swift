internal import GLibRuntime
internal import Glibc
internal import RelayCore
internal import RelaySinks

/// Standard output, and the one sink that may have it: its queue, its fast path, and what becomes of it.
///
/// The queue lives as long as the process; which sink has it, and how its lines look, can change with the rules file.
@MainLoop
final class StandardOutput {
    /// How text lines look.
    let style: TextLine.Style
    /// The queue of lines.
    let queue: LineQueue
    /// The fast path, for the sink that has standard output now.
    private(set) var lines: StdoutLines

    /// Called when producers must pause (true) and when they may go on (false).
    var onFull: (@MainLoop (Bool) -> Void)?
    /// Called once, when nobody reads standard output any more.
    var onOff: (@MainLoop () -> Void)?

    // A block is just below what an empty pipe takes at once: each write wakes the reader, which costs as much as
    // writing 30 lines, and what a turn of the loop reads makes about 200 KiB of lines.
    private static let usualPipe = 64 << 10
    private static let widePipe = 256 << 10
    private static let roomForLine = 4 << 10
    private let blockSize: Int

    private let log: Log
    private var waits = false
    /// The sink that has standard output, or had it last.
    private var name: String?
    /// What the fast path counted for sinks that had it before.
    private var past: [String: SinkCounters] = [:]
    /// The counts of the queue at the start of the present sink.
    private var base = LineQueue.Counts()

    /// Starts the queue.
    init(descriptor: Int32, log: Log) {
        self.log = log
        let environment = ["NO_COLOR", "TERM"].reduce(into: [:]) { variables, name in
            variables[name] = SecretReader.processEnvironment(name)
        }
        style = TextLine.Style.standard(isTerminal: isatty(descriptor) == 1, environment: environment)
        let reports = Reports()
        queue = LineQueue(descriptor: descriptor, whenFull: .wait) { report in
            MainLoop.post { reports.handler?(report) }
        }
        let pipeSize = PromptWrite.widenPipe(descriptor, to: Self.widePipe) ?? 0
        blockSize = max(pipeSize, Self.usualPipe) - Self.roomForLine
        lines = StdoutLines(queue: queue, blockSize: blockSize, format: .json, style: style)
        reports.handler = { [weak self] in self?.handle($0) }
    }

    /// Finds the `stdout` sink among `sinks`; nil if there is none.
    static func owner(in sinks: [SinkConfiguration]) -> (sink: SinkConfiguration, configuration: StdoutConfiguration)? {
        sinks.lazy.compactMap { sink -> (SinkConfiguration, StdoutConfiguration)? in
            if case .stdout(let configuration) = sink.kind { return (sink, configuration) }
            return nil
        }.first
    }

    /// Serves the `stdout` sink among `sinks` from now on, if there is one.
    func adopt(_ sinks: [SinkConfiguration]) {
        guard let owner = Self.owner(in: sinks) else { return }
        if owner.sink.name != name { handOver(to: owner.sink.name) }
        let whenFull = owner.configuration.whenFull ?? (sinks.count == 1 ? .wait : .drop)
        waits = whenFull == .wait
        queue.setWhenFull(whenFull)
        lines = StdoutLines(queue: queue, blockSize: blockSize, format: owner.configuration.format, style: style)
        lines.onNoRoom = { [weak self] in self?.tellWhetherFull() }
        // Whoever paused for the old sink may go on under the new one.
        onFull?(waits && queue.isFull)
    }

    /// The lines, of all that were ever handed over, whose fate is known.
    var settledLines: Int { queue.counts.settled }

    /// The counters of the fast path by sink; those of deliveries are the journal's.
    var counters: [String: SinkCounters] {
        guard let name else { return past }
        var counters = past
        counters[name, default: SinkCounters()].add(present)
        return counters
    }

    /// What the fast path counted for the sink that has standard output.
    private var present: SinkCounters {
        let counts = queue.unwatchedCounts
        var present = SinkCounters()
        present.effects = counts.accepted - base.accepted + counts.dropped - base.dropped
        present.delivered = counts.written - base.written
        present.dead = counts.lost - base.lost + counts.dropped - base.dropped
        present.pending = counts.accepted - counts.settled
        return present
    }

    /// Counts for another sink from now on.
    ///
    /// What is still queued counts for that one: nobody could tell later whose line was lost.
    private func handOver(to name: String) {
        if let former = self.name {
            var counters = present
            counters.effects -= counters.pending
            counters.pending = 0
            past[former, default: SinkCounters()].add(counters)
        }
        base = queue.unwatchedCounts
        base.accepted = base.settled
        self.name = name
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
