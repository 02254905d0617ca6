internal import CGLib
internal import Glibc

/// Accepts connections at a path of the file system, and knows who is on the other side.
@MainLoop
package final class UnixSocketListener {
    /// The process on the other side, as the kernel knows it since it connected (`SO_PEERCRED`).
    package struct Peer: Sendable, Equatable {
        /// Its user.
        package var user: UInt32
        /// Its process id.
        package var process: Int32

        /// Creates a peer.
        package init(user: UInt32, process: Int32) {
            self.user = user
            self.process = process
        }
    }

    /// The most bytes of a path: `sun_path` has 108, of which the last is 0.
    package nonisolated static let longestPath = 107

    private let path: String
    private let onAccept: @MainLoop (SocketConnection, Peer) -> Void
    private var socket: ListeningSocket?

    /// Listens at `path`, at which nothing may be, for the user of this process only.
    ///
    /// - Throws: what the system said.
    package init(
        path: String, onAccept: @escaping @MainLoop (SocketConnection, Peer) -> Void
    ) throws(GLibError) {
        self.path = path
        self.onAccept = onAccept
        socket = ListeningSocket(try Self.listen(path)) { [weak self] in self?.take($0) }
    }

    isolated deinit {
        close()
    }

    /// Stops listening and removes the file; connections that were given out stay.
    package func close() {
        guard let socket else { return }
        socket.close()
        self.socket = nil
        unlink(path)
    }

    private func take(_ client: ObjectReference) {
        guard let peer = Self.peer(of: client),
            let made = g_socket_connection_factory_create_connection(client.pointer(as: GSocket.self))
        else {
            g_socket_close(client.pointer(as: GSocket.self), nil)
            return
        }
        onAccept(SocketConnection(ObjectReference(adopting: made), socket: client, isTLS: false), peer)
    }

    /// The C functions are `g_socket_get_credentials` and those of `GCredentials`.
    private static func peer(of socket: ObjectReference) -> Peer? {
        guard let credentials = g_socket_get_credentials(socket.pointer(as: GSocket.self), nil) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(credentials)) }
        let user = g_credentials_get_unix_user(credentials, nil)
        guard user != uid_t.max else { return nil }
        return Peer(user: user, process: g_credentials_get_unix_pid(credentials, nil))
    }

    private static func listen(_ path: String) throws(GLibError) -> ObjectReference {
        var error: UnsafeMutablePointer<GError>?
        guard let made = g_socket_new(G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_DEFAULT, &error)
        else { throw GLibError(taking: error) }
        let socket = ObjectReference(adopting: made)
        g_socket_set_blocking(made, gboolean(0))
        g_socket_set_listen_backlog(made, 16)
        guard let address = g_unix_socket_address_new(path) else {
            throw GLibError(domain: "none", code: 0, message: "no address")
        }
        defer { g_object_unref(UnsafeMutableRawPointer(address)) }
        guard g_socket_bind(made, address, gboolean(0), &error) != 0 else { throw GLibError(taking: error) }
        // Before anybody can connect: that needs the call of listen(2).
        guard chmod(path, 0o600) == 0, g_socket_listen(made, &error) != 0 else { throw GLibError(taking: error) }
        return socket
    }
}
