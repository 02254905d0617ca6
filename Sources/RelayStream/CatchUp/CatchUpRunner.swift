internal import GLibRuntime
internal import RelayCore

/// Fetches what a stream missed, beside its live connection.
@MainLoop
final class CatchUpRunner {
    private let handler: any CatchUpHandler
    private let clock: any RelayClock
    private let fetch: PageFetch
    private let bell = Doorbell()
    private var generator: any RandomNumberGenerator & Sendable
    private var machine: CatchUp
    private var reporter: CatchUpReporter
    /// What a connection or a token made of a rest or a wait.
    private var hastened: CatchUp.Step?
    private var isPaused = false
    /// Why the last try failed, until one does not.
    private(set) var lastError: String?

    /// The most events and bytes that are handed over in one turn of the loop.
    private static let mostEvents = 256
    private static let mostBytes: UInt32 = 256 * 1024

    /// Creates the catch-up of a stream; nil if it has none.
    init?(_ configuration: StreamConfiguration, surroundings: StreamReader.Surroundings) {
        guard let catchUp = configuration.catchUp, let target = surroundings.catchUp else { return nil }
        handler = target.handler
        clock = surroundings.clock
        generator = surroundings.generator
        fetch = PageFetch(configuration, catchUp, format: target.format, surroundings: surroundings)
        machine = CatchUp(catchUp, policy: configuration.redial)
        reporter = CatchUpReporter(stream: configuration.name, log: surroundings.log)
    }

    /// Whether something is still to be fetched.
    var isRunning: Bool { machine.isRunning }

    /// A connection opened after a time without one, if there had been one before; returns whether that is caught up.
    func opened(lost: Duration?) -> Bool {
        guard let cursor = handler.catchUpBegan() else { return false }
        hasten(machine.opened(from: cursor, lost: lost, at: clock.now(), wallNow: clock.wallNow()))
        return true
    }

    /// The connection is lost.
    func closed() {
        machine.closed()
    }

    /// The token may be another one.
    func tokenChanged() {
        hasten(machine.tokenChanged(at: clock.now()))
    }

    /// Hands over no more events, since they cannot be stored.
    func pause() {
        isPaused = true
    }

    /// Hands over events again.
    func resume() {
        isPaused = false
        bell.ring()
    }

    /// Runs until the task is cancelled.
    func run() async {
        var step = CatchUp.Step.rest
        while !Task.isCancelled {
            switch step {
            case .fetch(let question): step = await ask(question)
            case .feed(let batches): step = await feed(batches)
            case .wait(let deadline):
                fetch.close()
                await bell.wait(until: deadline, on: clock)
                step = takeHastened() ?? machine.waited(at: clock.now())
            case .finish(let result): step = finish(result)
            case .rest:
                fetch.close()
                await bell.wait()
                step = takeHastened() ?? .rest
            }
        }
        fetch.close()
    }

    private func hasten(_ step: CatchUp.Step?) {
        guard let step else { return }
        hastened = step
        bell.ring()
    }

    private func takeHastened() -> CatchUp.Step? {
        defer { hastened = nil }
        return hastened
    }

    // MARK: The steps

    private func ask(_ question: PageQuestion) async -> CatchUp.Step {
        switch await fetch.run(question) {
        case .stopped: return .rest
        case .page(let page): return machine.took(page)
        case .failed(let ending, let status):
            let now = clock.now()
            lastError = ending.reason
            let step = machine.failed(ending, status: status, at: now, using: &generator)
            if case .wait(let until) = step { reporter.failed(ending, wait: until - now, at: now) }
            return step
        }
    }

    /// Hands over events in pieces, between which the loop does what else there is.
    private func feed(_ batches: [EventBatch]) async -> CatchUp.Step {
        for batch in batches {
            var start = 0
            while start < batch.records.count {
                while isPaused, !Task.isCancelled { await bell.wait() }
                if Task.isCancelled { return .rest }
                let piece = Self.piece(of: batch, from: start)
                start += piece.records.count
                handler.caughtUp(piece)
                await Task.yield()
            }
        }
        return machine.fed()
    }

    private static func piece(of batch: EventBatch, from start: Int) -> EventBatch {
        var end = start
        var bytes: UInt32 = 0
        while end < batch.records.count, end - start < mostEvents, bytes < mostBytes {
            bytes += batch.records[end].raw.count
            end += 1
        }
        var piece = EventBatch(stream: batch.stream)
        piece.storage = batch.storage
        piece.records = Array(batch.records[start..<end])
        return piece
    }

    private func finish(_ result: CatchUpResult) -> CatchUp.Step {
        lastError = nil
        reporter.finished(result)
        let (isComplete, step) = machine.finished()
        if isComplete { handler.catchUpEnded() }
        return step
    }
}
