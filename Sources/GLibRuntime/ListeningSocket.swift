internal import CGLib

/// A socket that listens, whatever its family, and what it accepts.
@MainLoop
final class ListeningSocket {
    private let socket: ObjectReference
    private let onAccept: @MainLoop (ObjectReference) -> Void
    private var source: LoopSource?
    private var retry: LoopTimer?

    /// Takes a listening `GSocket` that does not block, and calls `onAccept` with each `GSocket` that it accepts.
    init(_ socket: ObjectReference, onAccept: @escaping @MainLoop (ObjectReference) -> Void) {
        self.socket = socket
        self.onAccept = onAccept
        retry = LoopTimer { [weak self] _ in self?.arm() }
        arm()
    }

    /// Stops listening.
    func close() {
        source?.cancel()
        source = nil
        retry?.cancel()
        g_socket_close(socket.pointer(as: GSocket.self), nil)
    }

    private func arm() {
        source = LoopSource(
            g_socket_create_source(socket.pointer(as: GSocket.self), G_IO_IN, nil), .socket
        ) { [weak self] in self?.accept() }
    }

    private func accept() {
        var error: UnsafeMutablePointer<GError>?
        guard let accepted = g_socket_accept(socket.pointer(as: GSocket.self), nil, &error) else {
            guard GLibError.unlessWouldBlock(taking: error) != nil else { return }
            // Mostly too many open descriptors: the listener stays readable, so it rests instead of spinning.
            source?.cancel()
            source = nil
            retry?.schedule(after: .milliseconds(100))
            return
        }
        onAccept(ObjectReference(adopting: accepted))
    }
}
