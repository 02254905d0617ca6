internal import CGLib
internal import Glibc

/// What a read without waiting found.
package enum ReadResult: Sendable, Equatable {
    /// So many bytes, at least one, were put at the start of the memory.
    case bytes(Int)
    /// Nothing is there yet; the readable callback will tell.
    case wouldBlock
    /// The peer will send nothing more.
    case endOfFile
}

/// Why a connection ended.
package enum SocketEnd: Error, Sendable, Equatable, CustomStringConvertible {
    /// We closed it.
    case aborted
    /// The system refused a write.
    case writeFailed(GLibError)
    /// The peer reads so slowly that more bytes were waiting than may.
    case tooMuchUnsent(limit: Int)

    package var description: String {
        switch self {
        case .aborted: "closed by us"
        case .writeFailed(let error): "writing failed: \(error.message)"
        case .tooMuchUnsent(let limit): "the peer does not read: over \(limit) bytes unsent"
        }
    }
}

/// One connected stream socket, plain or TLS, dialled or accepted, read and written without ever waiting.
///
/// Whoever releases the last reference closes it.
@MainLoop
package final class SocketConnection {
    private let stream: ObjectReference
    private let socket: ObjectReference
    private let isTLS: Bool
    private var isClosed = false

    private var onReadable: (@MainLoop () -> Void)?
    private var readSource: LoopSource?
    private var isPaused = false
    /// Whether TLS may hold decrypted bytes that the socket's readiness does not show.
    private var mayHoldBytes: Bool
    private var isWakePosted = false

    private var unsent: [UInt8] = []
    private var sentPrefix = 0
    private var writeSource: LoopSource?
    private var flushWaiters: [Pending<Void>] = []
    private var isClosingAfterFlush = false
    private var closeTimer: LoopTimer?

    /// The most bytes that may wait to be sent; one more and the connection is aborted with `onEnd`.
    package var unsentLimit = 4 << 20

    /// Called once, soon after the connection ended by itself; not after `abort`.
    package var onEnd: (@MainLoop (SocketEnd) -> Void)?

    /// The bytes accepted by `write` that the system has not taken.
    package var unsentByteCount: Int { unsent.count - sentPrefix }

    /// Takes over a connected stream and the socket below it.
    init(_ stream: ObjectReference, socket: ObjectReference, isTLS: Bool) {
        self.stream = stream
        self.socket = socket
        self.isTLS = isTLS
        mayHoldBytes = isTLS
        g_socket_set_option(socket.pointer(as: GSocket.self), Int32(IPPROTO_TCP), TCP_NODELAY, 1, nil)
    }

    isolated deinit {
        abort()
    }

    /// Connects to `target`, through DNS, TCP, proxy and TLS, before `deadline` has passed.
    ///
    /// - Throws: `DialError` with the phase reached, or `CancellationError` as soon as the task is cancelled.
    package static func dial(
        _ target: DialTarget, deadline: Duration = .seconds(15)
    ) async throws -> SocketConnection {
        try await Dialer(target).run(deadline: deadline)
    }

    // MARK: - Reading

    /// Reads what is there into `buffer`, which must not be empty.
    ///
    /// - Throws: what the system or TLS said; the connection is of no use then.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(GLibError) -> ReadResult {
        guard !isClosed else { return .endOfFile }
        var error: UnsafeMutablePointer<GError>?
        let count = g_pollable_input_stream_read_nonblocking(
            relay_pollable_input(stream.pointer(as: GIOStream.self)), buffer.baseAddress, gsize(buffer.count), nil,
            &error)
        if count > 0 {
            mayHoldBytes = isTLS
            return .bytes(count)
        }
        mayHoldBytes = false
        if count == 0 { return .endOfFile }
        if let failure = GLibError.unlessWouldBlock(taking: error) { throw failure }
        return .wouldBlock
    }

    /// Reads what is there into the span, which must not be empty.
    ///
    /// - Throws: what the system or TLS said; the connection is of no use then.
    package func read(into span: inout MutableRawSpan) throws(GLibError) -> ReadResult {
        try span.withUnsafeMutableBytes { buffer throws(GLibError) in try read(into: buffer) }
    }

    /// Calls `onReadable` whenever there is something to read, an end or an error, once a turn of the loop.
    ///
    /// What is left unread is told again at the next turn.
    package func startReading(_ onReadable: @escaping @MainLoop () -> Void) {
        self.onReadable = onReadable
        isPaused = false
        armReading()
    }

    /// Stops calling; the kernel's buffer fills and the peer has to wait.
    package func pauseReading() {
        isPaused = true
        readSource?.cancel()
        readSource = nil
    }

    /// Calls again after `pauseReading`.
    package func resumeReading() {
        isPaused = false
        armReading()
    }

    private func armReading() {
        guard !isClosed, !isPaused, onReadable != nil else { return }
        if readSource == nil {
            readSource = makeReadSource { [weak self] in self?.becameReadable() }
        }
        wakeForHeldBytes()
    }

    private func makeReadSource(_ handler: @escaping @MainLoop () -> Void) -> LoopSource {
        if isTLS {
            let input = relay_pollable_input(stream.pointer(as: GIOStream.self))
            return LoopSource(g_pollable_input_stream_create_source(input, nil), .pollable, handler: handler)
        }
        // The stream's source has the socket's as a child, which GLib takes out of the loop for every dispatch: three
        // more system calls.
        let source = g_socket_create_source(socket.pointer(as: GSocket.self), G_IO_IN, nil)
        return LoopSource(source, .socket, handler: handler)
    }

    private func becameReadable() {
        guard !isClosed, !isPaused, let onReadable else { return }
        onReadable()
        wakeForHeldBytes()
    }

    private func wakeForHeldBytes() {
        guard mayHoldBytes, !isClosed, !isPaused, !isWakePosted else { return }
        isWakePosted = true
        MainLoop.post { [weak self] in
            guard let self else { return }
            isWakePosted = false
            if mayHoldBytes { becameReadable() }
        }
    }

    // MARK: - Writing

    /// Sends `bytes`: at once what the system takes, the rest as it can.
    ///
    /// After an end nothing happens.
    package func write(_ bytes: [UInt8]) {
        guard !isClosed, !isClosingAfterFlush else { return }
        var start = 0
        if unsentByteCount == 0 {
            guard let sent = send(bytes, from: 0) else { return }
            start = sent
        }
        guard start < bytes.count else { return }
        guard bytes.count - start <= unsentLimit - unsentByteCount else {
            return end(.tooMuchUnsent(limit: unsentLimit))
        }
        // Moves the rest to the front when more is dead than alive, so that appending stays cheap.
        if sentPrefix > unsent.count / 2 {
            unsent.removeSubrange(..<sentPrefix)
            sentPrefix = 0
        }
        unsent.append(contentsOf: bytes[start...])
        armWriting()
    }

    /// Returns when everything written so far has been taken by the system.
    ///
    /// - Throws: `SocketEnd` when the connection ends first, `CancellationError` when the task is cancelled.
    package func flushed() async throws {
        guard !isClosed else { throw SocketEnd.aborted }
        guard unsentByteCount > 0 else { return }
        let waiter = Pending<Void>()
        flushWaiters.append(waiter)
        try await waiter.value()
    }

    /// Closes when everything written so far is sent, or after `deadline`; reading stops at once.
    package func closeAfterFlush(deadline: Duration = .seconds(2)) {
        guard !isClosed, !isClosingAfterFlush else { return }
        isClosingAfterFlush = true
        pauseReading()
        onReadable = nil
        // The timer keeps the connection alive until it has closed, whoever else lets go of it.
        let timer = LoopTimer { _ in self.abort() }
        closeTimer = timer
        timer.schedule(after: deadline)
        if unsentByteCount == 0 { finishClosing() }
    }

    private func finishClosing() {
        g_socket_shutdown(socket.pointer(as: GSocket.self), gboolean(0), gboolean(1), nil)
        abort()
    }

    /// Sends from `start` until the system takes no more; returns the index reached, `nil` after a failure.
    private func send(_ bytes: [UInt8], from start: Int) -> Int? {
        let output = relay_pollable_output(stream.pointer(as: GIOStream.self))
        var index = start
        while index < bytes.count {
            var error: UnsafeMutablePointer<GError>?
            let count = bytes.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[index...])
                return g_pollable_output_stream_write_nonblocking(
                    output, rest.baseAddress, gsize(rest.count), nil, &error)
            }
            if count < 0 {
                guard let failure = GLibError.unlessWouldBlock(taking: error) else { return index }
                end(.writeFailed(failure))
                return nil
            }
            index += count
        }
        return index
    }

    private func armWriting() {
        guard writeSource == nil, !isClosed else { return }
        let output = relay_pollable_output(stream.pointer(as: GIOStream.self))
        writeSource = LoopSource(g_pollable_output_stream_create_source(output, nil), .pollable) { [weak self] in
            self?.becameWritable()
        }
    }

    private func becameWritable() {
        guard let sent = send(unsent, from: sentPrefix) else { return }
        sentPrefix = sent
        guard unsentByteCount == 0 else { return }
        unsent = []
        sentPrefix = 0
        writeSource?.cancel()
        writeSource = nil
        let waiters = flushWaiters
        flushWaiters = []
        for waiter in waiters { waiter.finish(.success(())) }
        if isClosingAfterFlush { finishClosing() }
    }

    // MARK: - The end

    /// Closes now, without waiting for anything and without another callback; again has no effect.
    package func abort() {
        close(because: .aborted)
    }

    private func close(because end: SocketEnd) {
        guard !isClosed else { return }
        isClosed = true
        readSource?.cancel()
        readSource = nil
        writeSource?.cancel()
        writeSource = nil
        closeTimer?.cancel()
        closeTimer = nil
        onReadable = nil
        onEnd = nil
        unsent = []
        sentPrefix = 0
        for waiter in flushWaiters { waiter.finish(.failure(end)) }
        flushWaiters = []
        // The socket goes first: what TLS still has to say when its stream is closed then fails at once.
        g_socket_close(socket.pointer(as: GSocket.self), nil)
        g_io_stream_close_async(stream.pointer(as: GIOStream.self), G_PRIORITY_DEFAULT, nil, nil, nil)
    }

    /// Ends the connection and tells so at the next turn of the loop, never from inside `write`.
    private func end(_ end: SocketEnd) {
        let onEnd = onEnd
        close(because: end)
        if let onEnd { MainLoop.post { onEnd(end) } }
    }
}
