extension LineQueue {
    /// Somebody who waits for a line to settle.
    struct Waiter: Sendable {
        var name: Int
        var line: Int
        var continuation: CheckedContinuation<Void, Never>
    }

    /// A stretch of lines that the writer has in hand.
    struct Batch: Sendable {
        var bytes: [UInt8]
        var lines: Int
        /// Whether the bytes begin within a line whose beginning is written.
        var isInsideLine: Bool
    }

    /// What the writer has to do.
    enum Work: Sendable {
        case batch(Batch)
        /// Sleep until there is something.
        case nothing
        /// End.
        case closed
    }

    /// What the queue's lock guards.
    ///
    /// No method blocks, calls out or resumes anybody.
    struct State: Sendable {
        /// What happens when there is no room.
        var whenFull: StdoutConfiguration.WhenFull
        /// What became of the lines so far.
        var counts = Counts()
        /// What became of those among them that are watched.
        private(set) var watchedCounts = Counts()
        /// Lines that wait to be written.
        private var pending: [UInt8] = []
        private var pendingLines = 0
        /// Whether the pending bytes begin within a line.
        private var isInsideLine = false
        /// The memory of the last batch, for the next one.
        private var spare: [UInt8] = []
        /// Bytes that the writer has in hand.
        private var bytesInHand = 0
        /// Whether the writer sleeps, so that the next append must wake it.
        var isIdle = false
        /// Set when the bound is reached, cleared when less than half is queued.
        private(set) var isFull = false
        private var droppedSinceFull = 0
        /// Whether writing is over for good.
        private(set) var isOff = false
        /// Whether the thread ends when nothing is pending.
        var isClosing = false
        /// Those who wait for lines to settle.
        var waiters: [Waiter] = []
        private var lastWaiter = 0
        /// Lines whose fate somebody asks for later, by number.
        private var watched: [Int: Fate] = [:]

        /// A buffer larger than this is given back to the system when there is nothing to write.
        private static let keptCapacity = 512 << 10

        /// What follows from appending.
        struct Appended: Sendable {
            var hasRoom = true
            var mustWake = false
            var isNewlyFull = false
        }

        /// Creates the state of an empty queue.
        init(whenFull: StdoutConfiguration.WhenFull) {
            self.whenFull = whenFull
        }

        mutating func append(_ bytes: [UInt8], lines: Int, capacity: Int) -> Appended {
            guard !isOff else {
                counts.dropped += lines
                return Appended()
            }
            // Under `wait` the batch in the producer's hand still fits, whatever its size, if the producer obeys.
            let limit = whenFull == .wait ? capacity * 2 : capacity
            let queued = pending.count + bytesInHand
            // An empty queue takes anything, or a line longer than the bound would never be written. So when
            // something does not fit there is something to write, after which room is told.
            let free = queued == 0 ? bytes.count : max(0, limit - queued)
            let wasFull = isFull
            if bytes.count <= free, !(isFull && whenFull == .drop) {
                pending.append(contentsOf: bytes)
                accept(lines)
            } else {
                appendWhatFits(bytes, lines: lines, free: isFull && whenFull == .drop ? 0 : free)
            }
            if pending.count + bytesInHand >= capacity { isFull = true }
            defer { if !pending.isEmpty { isIdle = false } }
            return Appended(
                hasRoom: !isFull, mustWake: isIdle && !pending.isEmpty, isNewlyFull: isFull && !wasFull)
        }

        /// Whether nothing is queued or in hand, and nothing was ever lost, so that the producer may write by itself.
        ///
        /// After a loss it may not: the thread knows whether a line was cut short.
        var isQuiet: Bool { isIdle && pending.isEmpty && bytesInHand == 0 && !isOff && counts.lost == 0 }

        /// Takes a batch of which `written` bytes are written already.
        mutating func append(_ bytes: [UInt8], lines: Int, written: Int) -> Appended {
            counts.accepted += lines
            guard written < bytes.count else {
                note(.written, lines: lines)
                return Appended()
            }
            let whole = min(lines, bytes[..<written].count { $0 == UInt8(ascii: "\n") })
            note(.written, lines: whole)
            pending.append(contentsOf: bytes[written...])
            pendingLines = lines - whole
            isInsideLine = bytes[written - 1] != UInt8(ascii: "\n")
            isIdle = false
            return Appended(mustWake: true)
        }

        /// Keeps the oldest whole lines of a batch and drops the others.
        private mutating func appendWhatFits(_ bytes: [UInt8], lines: Int, free: Int) {
            let newline = UInt8(ascii: "\n")
            let end = bytes.prefix(free).lastIndex(of: newline).map { $0 + 1 } ?? 0
            let kept = min(lines, bytes.prefix(end).count { $0 == newline })
            pending.append(contentsOf: bytes.prefix(end))
            accept(kept)
            counts.dropped += lines - kept
            droppedSinceFull += lines - kept
            isFull = true
        }

        private mutating func accept(_ lines: Int) {
            pendingLines += lines
            counts.accepted += lines
        }

        /// Hands all pending lines to the writer.
        mutating func take() -> Work {
            guard !pending.isEmpty else {
                if isClosing { return .closed }
                if spare.capacity > Self.keptCapacity { spare = [] }
                if pending.capacity > Self.keptCapacity { pending = [] }
                isIdle = true
                return .nothing
            }
            let batch = Batch(bytes: pending, lines: pendingLines, isInsideLine: isInsideLine)
            isInsideLine = false
            pending = spare
            spare = []
            pendingLines = 0
            bytesInHand = batch.bytes.count
            return .batch(batch)
        }

        /// Takes the emptied memory of a batch back.
        mutating func giveBack(_ bytes: consuming [UInt8]) {
            bytesInHand = 0
            spare = bytes
        }

        /// Counts progress of the writer and returns who waited for it, and how many lines were dropped if the queue
        /// has room again.
        mutating func settle(
            written: Int, lost: Int, bytesLeft: Int, capacity: Int
        ) -> (waiters: [Waiter], droppedBeforeRoom: Int?) {
            note(.written, lines: written)
            note(.lost, lines: lost)
            bytesInHand = bytesLeft
            let ready = waiters.filter { $0.line <= counts.settled }
            if !ready.isEmpty { waiters.removeAll { $0.line <= counts.settled } }
            guard isFull, pending.count + bytesInHand < capacity / 2 else { return (ready, nil) }
            defer { droppedSinceFull = 0 }
            isFull = false
            return (ready, droppedSinceFull)
        }

        private mutating func note(_ fate: Fate, lines: Int) {
            guard lines > 0 else { return }
            let first = counts.settled + 1
            if fate == .written { counts.written += lines } else { counts.lost += lines }
            for line in watched.keys where line >= first && line <= counts.settled {
                watched[line] = fate
                if fate == .written { watchedCounts.written += 1 } else { watchedCounts.lost += 1 }
            }
        }

        /// Ends writing for good: everything pending is lost.
        mutating func switchOff(lost: Int) -> [Waiter] {
            isOff = true
            isFull = false
            note(.lost, lines: lost + pendingLines)
            pending = []
            pendingLines = 0
            bytesInHand = 0
            defer { waiters = [] }
            return waiters
        }

        mutating func nameWaiter() -> Int {
            lastWaiter += 1
            return lastWaiter
        }

        mutating func removeWaiter(_ name: Int) -> Waiter? {
            guard let index = waiters.firstIndex(where: { $0.name == name }) else { return nil }
            return waiters.remove(at: index)
        }

        /// Keeps the fate of the line accepted last until it is asked for.
        mutating func watchLast() -> Int {
            watched[counts.accepted] = .pending
            watchedCounts.accepted += 1
            return counts.accepted
        }

        /// Returns the fate of a watched line, and forgets it once it is known.
        mutating func fate(of line: Int) -> Fate {
            let fate = watched[line] ?? .lost
            if fate != .pending { watched[line] = nil }
            return fate
        }
    }
}
