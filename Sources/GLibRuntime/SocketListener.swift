internal import CGLib
internal import Glibc

/// Accepts connections on the loopback interface.
@MainLoop
package final class SocketListener {
    /// A certificate and its key, as PEM files.
    package struct Certificate: Sendable {
        package var certificateFile: String
        package var keyFile: String

        /// Creates the pair of names.
        package init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// The port listened on.
    package nonisolated let port: UInt16
    /// Called with each connection, after its TLS handshake if there is one.
    package var onAccept: (@MainLoop (SocketConnection) -> Void)?

    private let certificate: ObjectReference?
    private let handshakes = Cancellable()
    private var socket: ListeningSocket?

    /// Listens on `port` of 127.0.0.1, 0 for any free one.
    ///
    /// - Throws: what the system said, or why the certificate cannot be used.
    package init(
        port: UInt16 = 0, certificate: Certificate? = nil, onAccept: (@MainLoop (SocketConnection) -> Void)? = nil
    ) throws(GLibError) {
        self.onAccept = onAccept
        self.certificate = try certificate.map { pair throws(GLibError) in try Self.load(pair) }
        let socket = try Self.listen(port)
        self.port = try Self.localPort(of: socket)
        self.socket = ListeningSocket(socket) { [weak self] in self?.take($0) }
    }

    isolated deinit {
        close()
    }

    /// Stops listening and drops connections whose handshake is not over; those given out stay.
    package func close() {
        onAccept = nil
        handshakes.cancel()
        socket?.close()
        socket = nil
    }

    private func take(_ client: ObjectReference) {
        guard let made = g_socket_connection_factory_create_connection(client.pointer(as: GSocket.self)) else { return }
        let transport = ObjectReference(adopting: made)
        if let certificate {
            startTLS(transport, client, certificate)
        } else {
            onAccept?(SocketConnection(transport, socket: client, isTLS: false))
        }
    }

    // MARK: - TLS

    /// A handshake under way; GIO owns it until the ready callback.
    private final class Handshake {
        let listener: SocketListener
        let stream: ObjectReference
        let socket: ObjectReference

        init(_ listener: SocketListener, _ stream: ObjectReference, _ socket: ObjectReference) {
            self.listener = listener
            self.stream = stream
            self.socket = socket
        }
    }

    private func startTLS(_ transport: ObjectReference, _ socket: ObjectReference, _ certificate: ObjectReference) {
        let made = g_tls_server_connection_new(
            transport.pointer(as: GIOStream.self), certificate.pointer(as: GTlsCertificate.self), nil)
        guard let made else { return }
        let stream = ObjectReference(adopting: made)
        let connection = stream.pointer(as: GTlsConnection.self)
        g_tls_connection_set_require_close_notify(connection, gboolean(0))
        let data = Unmanaged.passRetained(Handshake(self, stream, socket)).toOpaque()
        g_tls_connection_handshake_async(
            connection, G_PRIORITY_DEFAULT, handshakes.pointer,
            { _, result, data in
                guard let data else { return }
                nonisolated(unsafe) let handshake = Unmanaged<Handshake>.fromOpaque(data).takeRetainedValue()
                nonisolated(unsafe) let result = result
                MainLoop.assumeIsolated { handshake.listener.finish(handshake, result) }
            }, data)
    }

    private func finish(_ handshake: Handshake, _ result: OpaquePointer?) {
        let connection = handshake.stream.pointer(as: GTlsConnection.self)
        guard g_tls_connection_handshake_finish(connection, result, nil) != 0 else {
            g_socket_close(handshake.socket.pointer(as: GSocket.self), nil)
            return
        }
        onAccept?(SocketConnection(handshake.stream, socket: handshake.socket, isTLS: true))
    }

    // MARK: - Set-up

    private static func load(_ pair: Certificate) throws(GLibError) -> ObjectReference {
        var error: UnsafeMutablePointer<GError>?
        guard let certificate = g_tls_certificate_new_from_files(pair.certificateFile, pair.keyFile, &error) else {
            throw GLibError(taking: error)
        }
        return ObjectReference(adopting: certificate)
    }

    private static func listen(_ port: UInt16) throws(GLibError) -> ObjectReference {
        var error: UnsafeMutablePointer<GError>?
        guard let made = g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, &error) else {
            throw GLibError(taking: error)
        }
        let socket = ObjectReference(adopting: made)
        g_socket_set_blocking(made, gboolean(0))
        g_socket_set_listen_backlog(made, 128)
        let host = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4)
        let address = g_inet_socket_address_new(host, guint16(port))
        defer {
            g_object_unref(host)
            g_object_unref(address)
        }
        guard g_socket_bind(made, address, gboolean(1), &error) != 0, g_socket_listen(made, &error) != 0 else {
            throw GLibError(taking: error)
        }
        return socket
    }

    private static func localPort(of socket: ObjectReference) throws(GLibError) -> UInt16 {
        var error: UnsafeMutablePointer<GError>?
        guard let address = g_socket_get_local_address(socket.pointer(as: GSocket.self), &error) else {
            throw GLibError(taking: error)
        }
        defer { g_object_unref(address) }
        return g_inet_socket_address_get_port(
            UnsafeMutableRawPointer(address).assumingMemoryBound(to: GInetSocketAddress.self))
    }
}
