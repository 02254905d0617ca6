internal import GLibRuntime
internal import Glibc

/// The thread of a `LineQueue`.
///
/// It is a plain thread because write(2) to a pipe or a terminal blocks for as long as the reader likes, and making
/// the descriptor non-blocking would change it for every process that shares it, such as the shell.
struct LineWriter {
    private let descriptor: Int32
    private let queue: LineQueue
    /// Whether the last thing written was a part of a line that was then lost.
    private var isInsideLine = false
    /// Lines lost since writing began to fail; nil while it works.
    private var lostSinceFailure: Int?

    private init(descriptor: Int32, queue: LineQueue) {
        self.descriptor = descriptor
        self.queue = queue
    }

    private final class Argument {
        var writer: LineWriter

        init(_ writer: LineWriter) {
            self.writer = writer
        }
    }

    /// Starts the thread, which holds the queue until it is closed.
    ///
    /// It takes no signals: they are the main thread's business, and a broken pipe shall be an error of write(2).
    static func start(descriptor: Int32, queue: LineQueue) {
        let argument = Unmanaged.passRetained(Argument(LineWriter(descriptor: descriptor, queue: queue)))
        var all = sigset_t()
        var former = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let argument = Unmanaged<Argument>.fromOpaque(context).takeRetainedValue()
                argument.writer.run()
                return nil
            }, argument.toOpaque())
        guard code == 0 else {
            argument.release()
            return queue.switchOff(lost: 0, because: "no thread to write it: \(String(cString: strerror(code)))")
        }
        pthread_detach(thread)
    }

    private mutating func run() {
        while true {
            switch queue.state.withLock({ $0.take() }) {
            case .batch(var batch):
                guard write(batch) else { return }
                batch.bytes.removeAll(keepingCapacity: true)
                queue.giveBack(batch.bytes)
            case .nothing: queue.wake.wait()
            case .closed: return
            }
        }
    }

    /// Writes a batch; returns false when writing is over for good.
    private mutating func write(_ batch: LineQueue.Batch) -> Bool {
        var linesLeft = batch.lines
        var noLines = 0
        // What is left of a lost line must not swallow the next one.
        var failure = isInsideLine ? writeAll([newline], linesLeft: &noLines) : nil
        if failure == nil { isInsideLine = batch.isInsideLine }
        failure = failure ?? writeAll(batch.bytes, linesLeft: &linesLeft)
        guard let failure else {
            if let lost = lostSinceFailure { queue.report(.writing(lost: lost)) }
            lostSinceFailure = nil
            return true
        }
        let reason = String(cString: strerror(failure))
        guard Self.passingFailures.contains(failure) else {
            queue.switchOff(lost: linesLeft, because: reason)
            return false
        }
        if lostSinceFailure == nil { queue.report(.losing(because: reason)) }
        lostSinceFailure = (lostSinceFailure ?? 0) + linesLeft
        queue.settle(written: 0, lost: linesLeft, bytesLeft: 0)
        return true
    }

    /// Writes all bytes, telling the queue of every line written whole; returns the error number of a failure.
    private mutating func writeAll(_ bytes: [UInt8], linesLeft: inout Int) -> Int32? {
        var rest = bytes[...]
        while let last = rest.indices.last {
            let count = rest.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, min($0.count, Self.longestWrite))
            }
            if count > 0 {
                let taken = rest.prefix(count)
                let whole = taken.endIndex > last ? linesLeft : min(linesLeft, taken.count { $0 == newline })
                isInsideLine = taken.last != newline
                rest = rest.dropFirst(count)
                linesLeft -= whole
                queue.settle(written: whole, lost: 0, bytesLeft: rest.count)
                continue
            }
            switch count == 0 ? EIO : errno {
            case EINTR: continue
            case EAGAIN:
                // Somebody else made the descriptor non-blocking.
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = Glibc.poll(&poll, 1, -1)
            case let number: return number
            }
        }
        return nil
    }

    private let newline = UInt8(ascii: "\n")

    /// The most bytes a call: a blocking write to a pipe returns only when it has taken all, and progress shall be
    /// seen before that.
    private static let longestWrite = 256 << 10

    /// Failures after which the next lines may succeed: a disk without room, a limit, an error of the device.
    private static let passingFailures: Set<Int32> = [ENOSPC, EDQUOT, EFBIG, EIO, ENOMEM, ENOBUFS]
}

extension LineQueue {
    /// Counts what the writer achieved, and resumes and tells whom it concerns.
    func settle(written: Int, lost: Int, bytesLeft: Int) {
        let (ready, dropped) = state.withLock { state in
            state.settle(written: written, lost: lost, bytesLeft: bytesLeft, capacity: capacity)
        }
        for waiter in ready { waiter.continuation.resume() }
        if let dropped { report(.room(dropped: dropped)) }
    }

    /// Takes the emptied memory of a batch back.
    func giveBack(_ bytes: [UInt8]) {
        state.withLock { $0.giveBack(bytes) }
    }

    /// Ends writing for good.
    func switchOff(lost: Int, because reason: String) {
        let waiters = state.withLock { $0.switchOff(lost: lost) }
        for waiter in waiters { waiter.continuation.resume() }
        report(.off(because: reason))
    }
}
