internal import GLibRuntime
package import RelayCore

/// Queues whole lines for a file descriptor that may take its time, such as standard output.
///
/// A thread of its own writes what the descriptor does not take at once, so that a pipe nobody reads stops nothing
/// else. A line is written as soon as the descriptor takes it: nothing is held back to fill a
/// block. The bound is on the bytes queued and being written together; see `WhenFull` for what happens there.
package final class LineQueue: Sendable {
    /// A change that somebody should hear of.
    ///
    /// Each is reported once, until it changes back.
    package enum Report: Sendable, Equatable {
        /// There is no room; lines are dropped, or the producer should pause.
        case full
        /// There is room again, after `dropped` lines were dropped.
        case room(dropped: Int)
        /// Writing fails for now; the lines in hand are lost, and the next ones are tried.
        case losing(because: String)
        /// Writing works again, after `lost` lines were lost.
        case writing(lost: Int)
        /// Writing is over for good: the other side is gone.
        case off(because: String)
    }

    /// What became of the lines so far.
    package struct Counts: Sendable, Equatable {
        /// Lines taken into the queue.
        package var accepted = 0
        /// Lines written whole.
        package var written = 0
        /// Lines that could not be written.
        package var lost = 0
        /// Lines never taken, because the queue was full or is off.
        package var dropped = 0

        /// Creates counts.
        package init(accepted: Int = 0, written: Int = 0, lost: Int = 0, dropped: Int = 0) {
            (self.accepted, self.written, self.lost, self.dropped) = (accepted, written, lost, dropped)
        }

        /// Accepted lines whose fate is known; they settle in the order accepted.
        package var settled: Int { written + lost }
    }

    /// What became of one line.
    enum Fate: Sendable, Equatable {
        case pending, written, lost
    }

    let capacity: Int
    let state: Locked<State>
    let report: @Sendable (Report) -> Void
    let wake = Semaphore()
    private let descriptor: Int32

    /// Creates a queue of `capacity` bytes and starts its thread; the descriptor stays the caller's.
    ///
    /// `report` is called on the queue's thread or the producer's, without a lock held.
    package init(
        descriptor: Int32, capacity: Int = 8 << 20, whenFull: StdoutConfiguration.WhenFull,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.capacity = capacity
        state = Locked(State(whenFull: whenFull))
        self.report = report
        self.descriptor = descriptor
        LineWriter.start(descriptor: descriptor, queue: self)
    }

    /// Takes `lines` whole lines, each with its newline.
    ///
    /// - Returns: whether there is room for more. If not, a producer under `wait` pauses until `Report.room` or
    ///   `Report.off`; one that goes on loses lines when twice the capacity is queued.
    @discardableResult
    package func append(_ bytes: [UInt8], lines: Int) -> Bool {
        let result = state.withLock { state in
            // What a pipe takes at once needs neither a copy nor the thread.
            let taken = state.isQuiet ? PromptWrite.write(bytes, to: descriptor) : 0
            if taken > 0 { return state.append(bytes, lines: lines, written: taken) }
            return state.append(bytes, lines: lines, capacity: capacity)
        }
        tell(result)
        return result.hasRoom
    }

    /// Takes one line whose fate is asked for later.
    ///
    /// - Returns: its number, or nil if there is no room or writing is over.
    func appendWatched(_ line: [UInt8]) -> Int? {
        let (result, number) = state.withLock { state -> (State.Appended, Int?) in
            let accepted = state.counts.accepted
            // A refused delivery is tried again, so it does not count as a dropped line.
            guard !state.isOff, !state.isFull else { return (State.Appended(), nil) }
            let result = state.append(line, lines: 1, capacity: capacity)
            return (result, state.counts.accepted > accepted ? state.watchLast() : nil)
        }
        tell(result)
        return number
    }

    private func tell(_ result: State.Appended) {
        if result.mustWake { wake.signal() }
        if result.isNewlyFull { report(.full) }
    }

    /// Whether there is no room; under `wait` the producer should not read on.
    package var isFull: Bool { state.withLock { $0.isFull } }

    /// Whether writing is over for good.
    package var isOff: Bool { state.withLock { $0.isOff } }

    /// What became of the lines so far.
    package var counts: Counts { state.withLock { $0.counts } }

    /// What became of the lines whose fate nobody asks for: those that are no deliveries of a journal.
    package var unwatchedCounts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.accepted -= state.watchedCounts.accepted
            counts.written -= state.watchedCounts.written
            counts.lost -= state.watchedCounts.lost
            return counts
        }
    }

    /// Changes what happens from now on when there is no room.
    package func setWhenFull(_ whenFull: StdoutConfiguration.WhenFull) {
        state.withLock { $0.whenFull = whenFull }
    }

    /// Waits until every line accepted by now is written or lost, at most until `deadline`.
    ///
    /// - Returns: whether all are settled.
    @discardableResult
    package func flush(until deadline: Instant, clock: any RelayClock) async -> Bool {
        await settle(upTo: counts.accepted, until: deadline, clock: clock)
    }

    /// Waits until the line numbered `line`, from 1, is settled, at most until `deadline` or cancellation.
    @discardableResult
    func settle(upTo line: Int, until deadline: Instant, clock: any RelayClock) async -> Bool {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.awaitSettled(line) }
            // A cancelled sleep ends the group just as the deadline does.
            group.addTask { try? await clock.sleep(until: deadline) }
            await group.next()
            group.cancelAll()
        }
        return counts.settled >= line
    }

    /// Ends the thread once what is queued has been written.
    ///
    /// Nothing may be appended afterwards.
    package func close() {
        state.withLock { $0.isClosing = true }
        wake.signal()
    }

    private func awaitSettled(_ line: Int) async {
        let name = state.withLock { $0.nameWaiter() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // Cancellation sets the flag before it takes the lock below, so it is seen here or finds the
                    // waiter there.
                    if state.counts.settled >= line || Task.isCancelled { return true }
                    state.waiters.append(Waiter(name: name, line: line, continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { $0.removeWaiter(name) }
            waiter?.continuation.resume()
        }
    }
}
