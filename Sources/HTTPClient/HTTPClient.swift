internal import CCurl
package import GLibRuntime

/// Sends HTTP requests over libcurl's multi interface, which the main loop drives: no thread of its own, and no hop
/// to another executor for a caller that is on the loop.
///
/// Connections are kept and used again. A request on a kept connection which the server closed before it answered
/// anything is sent once more on a new one, by libcurl.
@MainLoop
package final class HTTPClient {
    /// A socket of libcurl's.
    ///
    /// The watch outlives libcurl's wish for it, since the next request on the same connection wants the same
    /// events: a request over a kept connection changes no watch at all. Readiness that nobody wants ends the watch,
    /// and so does the first look at a socket that was closed meanwhile.
    private struct Socket {
        var watch: DescriptorWatch
        /// What libcurl waits for: `CURL_CSELECT_IN`, `CURL_CSELECT_OUT`, both or 0.
        var wanted: Int32
    }

    private let multi: UnsafeMutableRawPointer?
    private var running: [UInt64: Transfer] = [:]
    private var idle: [Transfer] = []
    private var sockets: [Int32: Socket] = [:]
    private var lastNumber: UInt64 = 0
    private var timer: TransferTimer?
    private var isDue = false

    /// How many easy handles are kept for later: each takes some 20 KiB.
    private static let maxIdleTransfers = 16

    /// Creates a client without connections.
    ///
    /// - Parameters:
    ///   - connectionsPerHost: How many requests to one host are in flight; further ones wait their turn.
    ///   - idleConnections: How many connections are kept in all; the oldest unused one is closed for a new one.
    package init(connectionsPerHost: Int = 64, idleConnections: Int = 64) {
        multi = CurlLibrary.fault == nil ? relay_curl_multi_init() : nil
        _ = relay_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connectionsPerHost)
        _ = relay_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, idleConnections)
        let context = Unmanaged.passUnretained(self).toOpaque()
        // The pointer stays true: `close()` takes the multi handle away before the client goes.
        _ = relay_curl_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, context)
        _ = relay_curl_multi_set_pointer(multi, CURLMOPT_TIMERDATA, context)
        _ = relay_curl_multi_set_socket(multi) { _, socket, what, context, _ in
            guard let context else { return 0 }
            let client = Unmanaged<HTTPClient>.fromOpaque(context).takeUnretainedValue()
            MainLoop.assumeIsolated { client.want(what, of: socket) }
            return 0
        }
        _ = relay_curl_multi_set_timer(multi) { _, milliseconds, context in
            guard let context else { return 0 }
            let client = Unmanaged<HTTPClient>.fromOpaque(context).takeUnretainedValue()
            MainLoop.assumeIsolated { client.call(afterMilliseconds: milliseconds) }
            return 0
        }
        timer = TransferTimer { [weak self] in
            self?.isDue = true
            self?.advance()
        }
    }

    isolated deinit {
        close()
    }

    /// Sends `request` and returns the answer, whatever its status.
    ///
    /// Cancelling the task ends the transfer at once, with a failure of the kind `cancelled`.
    package func send(_ request: HTTPRequest) async -> Result<HTTPResponse, HTTPFailure> {
        guard !isClosed, !Task.isCancelled else { return .failure(Self.cancellation) }
        if let fault = CurlLibrary.fault { return .failure(HTTPFailure(.broken, "libcurl cannot be loaded: \(fault)")) }
        guard let transfer = takeIdle(for: request) ?? Transfer() else {
            return .failure(HTTPFailure(.broken, "there is no memory for a request"))
        }
        if let failure = transfer.prepare(request) {
            keep(transfer)
            return .failure(failure)
        }
        lastNumber += 1
        transfer.number = lastNumber
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.continuation = continuation
                start(transfer)
            }
        } onCancel: { [number = lastNumber] in
            // On the thread that cancels, maybe before the transfer has started.
            MainLoop.post { [weak self] in self?.cancel(number) }
        }
    }

    /// How many requests are in flight or wait for their turn.
    package var inFlight: Int { running.count }

    /// Ends all requests and closes all connections.
    ///
    /// Requests that come later are cancelled at once.
    package func close() {
        guard !isClosed else { return }
        timer = nil
        for transfer in running.values {
            relay_curl_multi_remove_handle(multi, transfer.easy)
            finish(transfer, .failure(Self.cancellation))
        }
        idle = []
        relay_curl_multi_cleanup(multi)
        for socket in sockets.values { socket.watch.cancel() }
        sockets = [:]
    }

    private static let cancellation = HTTPFailure(.cancelled, "the request was cancelled")
    private var isClosed: Bool { timer == nil }

    // MARK: Transfers

    private func start(_ transfer: Transfer) {
        running[transfer.number] = transfer
        let code = relay_curl_multi_add_handle(multi, transfer.easy)
        guard code == CURLM_OK else {
            let reason = String(cString: relay_curl_multi_strerror(code))
            return finish(transfer, .failure(HTTPFailure(.broken, "the request could not be started: \(reason)")))
        }
        advance()
    }

    /// Hands over the result of a transfer, which libcurl runs no more.
    private func finish(_ transfer: Transfer, _ result: Result<HTTPResponse, HTTPFailure>) {
        running[transfer.number] = nil
        let continuation = transfer.continuation
        keep(transfer)
        continuation?.resume(returning: result)
    }

    /// Takes an idle transfer, rather one that needs no new set-up.
    private func takeIdle(for request: HTTPRequest) -> Transfer? {
        guard let index = idle.lastIndex(where: { $0.isSetUp(for: request) }) else { return idle.popLast() }
        return idle.remove(at: index)
    }

    private func keep(_ transfer: Transfer) {
        transfer.clear()
        if idle.count < Self.maxIdleTransfers { idle.append(transfer) }
    }

    private func cancel(_ number: UInt64) {
        guard let transfer = running[number] else { return }
        relay_curl_multi_remove_handle(multi, transfer.easy)
        finish(transfer, .failure(Self.cancellation))
        // Whoever waited for a free connection may have one now.
        advance()
    }

    // MARK: What libcurl asks for

    private func want(_ what: Int32, of descriptor: Int32) {
        var wanted: Int32 = 0
        if what == CURL_POLL_IN || what == CURL_POLL_INOUT { wanted |= CURL_CSELECT_IN }
        if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { wanted |= CURL_CSELECT_OUT }
        if let socket = sockets[descriptor] {
            guard wanted != socket.wanted else { return }
            sockets[descriptor]?.wanted = wanted
            if wanted != 0 { socket.watch.update(events: Self.events(wanted)) }
        } else if wanted != 0 {
            let watch = DescriptorWatch(descriptor: descriptor, events: Self.events(wanted)) { [weak self] events in
                self?.ready(descriptor, for: events)
            }
            sockets[descriptor] = Socket(watch: watch, wanted: wanted)
        }
    }

    private static func events(_ mask: Int32) -> DescriptorWatch.Events {
        if mask == CURL_CSELECT_IN { return .readable }
        return mask == CURL_CSELECT_OUT ? .writable : [.readable, .writable]
    }

    private func call(afterMilliseconds milliseconds: Int) {
        // "At once" is told after nearly every call of ours and is done by `advance`, without a turn of the loop.
        isDue = milliseconds == 0
        timer?.set(afterMilliseconds: milliseconds > 0 ? milliseconds : nil)
    }

    // MARK: What libcurl is told

    private func ready(_ descriptor: Int32, for events: DescriptorWatch.Events) {
        guard let socket = sockets[descriptor] else { return }
        guard socket.wanted != 0 else {
            socket.watch.cancel()
            sockets[descriptor] = nil
            return
        }
        var mask = socket.wanted
        // Of an error libcurl learns the reason when it reads or writes; told of it, it would ask no further.
        if events.isDisjoint(with: .failed) {
            if !events.contains(.readable) { mask &= ~CURL_CSELECT_IN }
            if !events.contains(.writable) { mask &= ~CURL_CSELECT_OUT }
        }
        act(on: descriptor, mask)
        advance()
    }

    private func act(on descriptor: Int32, _ mask: Int32) {
        var count: Int32 = 0
        relay_curl_multi_socket_action(multi, descriptor, mask, &count)
    }

    /// Settles what has ended and calls libcurl again while it wants to be called at once.
    private func advance() {
        // Bounded, so that nothing that libcurl does can hold the loop; the timer takes over.
        for _ in 0..<32 {
            collect()
            guard isDue, !isClosed else { return }
            isDue = false
            act(on: CURL_SOCKET_TIMEOUT, 0)
        }
        timer?.set(afterMilliseconds: 1)
    }

    private func collect() {
        var left: Int32 = 0
        while let message = relay_curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = relay_curl_message_result(message)
            var context: UnsafeMutableRawPointer?
            _ = relay_curl_get_pointer(easy, CURLINFO_PRIVATE, &context)
            guard let context else { continue }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            let result = transfer.result(code)
            relay_curl_multi_remove_handle(multi, easy)
            finish(transfer, result)
        }
    }
}
