internal import GLibRuntime
internal import Glibc
internal import RelayCore

/// Listens for commands at the control socket, for the relay's own user only.
@MainLoop
final class ControlServer {
    private let limits: ControlConnection.Limits
    private let mostConnections: Int
    private let user: UInt32
    private let log: Log
    private let answer: @MainLoop ([UInt8]) async -> JSONValue
    private let tasks = LongTasks()
    private var listener: UnixSocketListener?
    private var connections: [Int: ControlConnection] = [:]
    private var count = 0
    private var strangers = ThinnedCount()

    /// Creates a server that does not listen yet and takes connections of `user` and of root.
    init(
        user: UInt32 = geteuid(), limits: ControlConnection.Limits = .init(), mostConnections: Int = 8, log: Log,
        answer: @escaping @MainLoop ([UInt8]) async -> JSONValue
    ) {
        self.user = user
        self.limits = limits
        self.mostConnections = mostConnections
        self.log = log
        self.answer = answer
    }

    /// Listens for commands to `relay`, until the task is cancelled.
    static func run(for relay: Relay) async {
        guard let place = relay.parts.controlPlace else { return }
        let answers = ControlAnswers(relay)
        let server = ControlServer(log: relay.parts.log) { await answers.answer(to: $0) }
        await server.run(at: place.socket)
    }

    /// Listens at `path` until the task is cancelled; what a relay left there that did not end in order is replaced.
    func run(at path: String) async {
        if let reason = ControlPlace.fault(ofSocket: path) ?? Self.removeStale(path) { return tellWithout(reason) }
        do throws(GLibError) {
            listener = try UnixSocketListener(path: path) { [weak self] in self?.accept($0, from: $1) }
        } catch {
            return tellWithout("\(path): \(error.message)")
        }
        log(.debug, "control", "listening for commands", [("socket", path)])
        await tasks.run()
        listener?.close()
        for connection in connections.values { connection.drop() }
    }

    /// Takes a connection, if it is of the relay's own user or of root.
    func accept(_ socket: SocketConnection, from peer: UnixSocketListener.Peer) {
        guard peer.user == user || peer.user == 0 else {
            if strangers.add() {
                log(
                    .warning, "control", "another user was turned away from the control socket",
                    [("uid", String(peer.user)), ("count", String(strangers.count))])
            }
            return socket.abort()
        }
        count += 1
        let number = count
        let connection = ControlConnection(socket, limits: limits, tasks: tasks, answer: answer) { [weak self] in
            self?.connections[number] = nil
        }
        guard connections.count < mostConnections else { return connection.refuse("too many connections at once") }
        connections[number] = connection
    }

    private func tellWithout(_ reason: String) {
        log(.error, "control", "commands such as `silence` cannot reach this relay: \(reason)")
    }

    /// Removes the socket of a relay that is no more: the lock is ours.
    ///
    /// - Returns: why the path cannot be used, or nil.
    private static func removeStale(_ path: String) -> String? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFSOCK else { return "\(path) is there and is no socket" }
        return unlink(path) == 0 ? nil : "\(path): \(String(cString: strerror(errno)))"
    }
}
