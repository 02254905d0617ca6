internal import GLibRuntime
internal import RelayCore
internal import WebSocketCodec

/// A stream server on the loopback interface that makes up events, for whoever has none at hand.
///
/// It demands the token, sends events at a steady rate, and drops the connection once, without a word, as networks do.
/// An event that could not be sent is sent after the client has come back.
@MainLoop
final class DemoServer {
    /// Where a client finds it.
    var url: String { "ws://127.0.0.1:\(listener.port)/ws/notifications" }

    private let token: Secret
    private let count: Int
    private let interval: Duration
    private let clock: any RelayClock
    private let listener: SocketListener
    private let bell = Doorbell()
    private var source = DemoEvents()
    private var client: DemoClient?

    /// Listens on a free port.
    ///
    /// - Parameters:
    ///   - token: what a client must send.
    ///   - count: how many events to send.
    ///   - rate: events a second.
    ///   - clock: the time.
    /// - Throws: what the system said.
    init(token: Secret, count: Int, rate: Double, clock: any RelayClock) throws(GLibError) {
        self.token = token
        self.count = count
        interval = .seconds(1 / rate)
        self.clock = clock
        listener = try SocketListener()
        listener.onAccept = { [weak self] in self?.accept($0) }
    }

    /// Sends all events, each once, to whoever is connected; returns when the last one is sent or the task cancelled.
    func run() async {
        let dropAt = count / 2
        var due = clock.now()
        for number in 0..<count {
            if number == dropAt, number > 0 { drop() }
            while client == nil, !Task.isCancelled {
                await bell.wait()
                due = max(due, clock.now())
            }
            // A cancelled sleep ends the loop by the condition below.
            try? await clock.sleep(until: due)
            if Task.isCancelled { return }
            client?.send(source.next(at: clock.wallNow()))
            due = due + interval
        }
    }

    /// Stops listening and drops the client.
    func close() {
        listener.close()
        drop()
    }

    private func drop() {
        client?.abort()
        client = nil
    }

    private func accept(_ connection: SocketConnection) {
        let client = DemoClient(connection, token: token)
        client.onOpen = { [weak self, weak client] in
            guard let self, let client else { return }
            drop()
            self.client = client
            bell.ring()
        }
        client.onEnd = { [weak self, weak client] in
            guard let self, let client, self.client === client else { return }
            self.client = nil
        }
        client.start()
    }
}
