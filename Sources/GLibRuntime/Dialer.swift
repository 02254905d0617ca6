internal import CGLib
internal import Glibc

/// One dial: name, TCP (RFC 8305 by `GSocketClient`), proxy and TLS, under one deadline.
@MainLoop
final class Dialer {
    private let target: DialTarget
    private let cancellable = Cancellable()
    private var phase = DialPhase.resolving
    private var isTimedOut = false

    init(_ target: DialTarget) {
        self.target = target
    }

    /// Dials.
    ///
    /// - Throws: `DialError`, or `CancellationError` when the task is cancelled.
    func run(deadline: Duration) async throws -> SocketConnection {
        let timer = LoopTimer { [cancellable, weak self] _ in
            self?.isTimedOut = true
            cancellable.cancel()
        }
        timer.schedule(after: deadline)
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            let transport = try await connect()
            let socket = ObjectReference(
                retaining: g_socket_connection_get_socket(transport.pointer(as: GSocketConnection.self)))
            guard let options = target.tls else { return SocketConnection(transport, socket: socket, isTLS: false) }
            return SocketConnection(try await secure(transport, options), socket: socket, isTLS: true)
        } onCancel: { [cancellable] in
            cancellable.cancelSoon()
        }
    }

    // MARK: - TCP and the proxy

    private func connect() async throws -> ObjectReference {
        let client = ObjectReference(adopting: g_socket_client_new())
        configureProxy(client)
        watchPhases(client)
        let address = ObjectReference(
            adopting: UnsafeMutableRawPointer(g_network_address_new(target.host, target.port)))
        let result = await asyncOperation { callback, data in
            g_socket_client_connect_async(
                client.pointer(as: GSocketClient.self), address.opaque, cancellable.pointer, callback, data)
        }
        var error: UnsafeMutablePointer<GError>?
        let connection = g_socket_client_connect_finish(
            client.pointer(as: GSocketClient.self), result.pointer, &error)
        guard let connection else { throw failure(GLibError(taking: error)) }
        let reference = ObjectReference(adopting: connection)
        try checkStopped()
        return reference
    }

    /// Without an explicit resolver GIO asks the desktop's settings, in a thread of its own.
    private func configureProxy(_ client: ObjectReference) {
        let client = client.pointer(as: GSocketClient.self)
        guard let proxy = target.proxy else {
            g_socket_client_set_enable_proxy(client, gboolean(0))
            return
        }
        guard let resolver = g_simple_proxy_resolver_new(proxy.uri, nil) else { return }
        g_socket_client_set_proxy_resolver(client, resolver)
        g_object_unref(UnsafeMutableRawPointer(resolver))
    }

    private func watchPhases(_ client: ObjectReference) {
        // The client owns this reference and drops it, by the closure's notify, when the dial is over.
        let data = Unmanaged.passRetained(self).toOpaque()
        relay_on_client_event(
            client.pointer(as: GSocketClient.self),
            { _, event, _, _, data in
                guard let data else { return }
                let dialer = Unmanaged<Dialer>.fromOpaque(data).takeUnretainedValue()
                MainLoop.assumeIsolated { dialer.reached(event) }
            }, data,
            { data, _ in
                guard let data else { return }
                Unmanaged<Dialer>.fromOpaque(data).release()
            })
    }

    private func reached(_ event: GSocketClientEvent) {
        switch event {
        case G_SOCKET_CLIENT_CONNECTING: phase = max(phase, .connecting)
        case G_SOCKET_CLIENT_PROXY_NEGOTIATING: phase = max(phase, .proxy)
        default: break
        }
    }

    // MARK: - TLS

    private func secure(_ transport: ObjectReference, _ options: TLSOptions) async throws -> ObjectReference {
        phase = .tls
        let stream = try makeTLS(transport, options)
        let connection = stream.pointer(as: GTlsConnection.self)
        let result = await asyncOperation { callback, data in
            g_tls_connection_handshake_async(connection, G_PRIORITY_DEFAULT, cancellable.pointer, callback, data)
        }
        var error: UnsafeMutablePointer<GError>?
        guard g_tls_connection_handshake_finish(connection, result.pointer, &error) != 0 else {
            let error = GLibError(taking: error)
            try checkStopped()
            let reasons = certificateFaults(of: connection)
            throw reasons.isEmpty ? failure(error) : dialError(.certificate(reasons))
        }
        try checkStopped()
        return stream
    }

    private func makeTLS(_ transport: ObjectReference, _ options: TLSOptions) throws -> ObjectReference {
        var error: UnsafeMutablePointer<GError>?
        let identity = ObjectReference(
            adopting: UnsafeMutableRawPointer(g_network_address_new(options.serverName, target.port)))
        let made = g_tls_client_connection_new(transport.pointer(as: GIOStream.self), identity.opaque, &error)
        guard let made else { throw failure(GLibError(taking: error)) }
        let stream = ObjectReference(adopting: made)
        let connection = stream.pointer(as: GTlsConnection.self)
        relay_tls_offer_http1(connection)
        // What is spoken above frames its own end; a missing close_notify is an end of file like any other.
        g_tls_connection_set_require_close_notify(connection, gboolean(0))
        if let path = options.caFile {
            // The file database wants an absolute path.
            let absolute = g_canonicalize_filename(path, nil)
            defer { g_free(absolute) }
            guard let database = g_tls_file_database_new(absolute, &error) else {
                throw dialError(.unusableFile(path, GLibError(taking: error)))
            }
            g_tls_connection_set_database(
                connection, UnsafeMutableRawPointer(database).assumingMemoryBound(to: GTlsDatabase.self))
            g_object_unref(UnsafeMutableRawPointer(database))
        }
        if let path = options.certificateFile {
            guard let certificate = g_tls_certificate_new_from_files(path, options.keyFile ?? path, &error) else {
                throw dialError(.unusableFile(path, GLibError(taking: error)))
            }
            g_tls_connection_set_certificate(connection, certificate)
            g_object_unref(certificate)
        }
        return stream
    }

    // MARK: - Failures

    private func checkStopped() throws {
        if isTimedOut { throw dialError(.timedOut) }
        try Task.checkCancellation()
    }

    private func failure(_ error: GLibError) -> any Error {
        if isTimedOut { return dialError(.timedOut) }
        if Task.isCancelled { return CancellationError() }
        return dialError(.failed(redacted(error)))
    }

    private func dialError(_ cause: DialError.Cause) -> DialError {
        DialError(host: target.host, port: target.port, phase: phase, cause: cause)
    }

    /// GIO's errors are not known to quote a proxy's URI; one that did would be told without it.
    private func redacted(_ error: GLibError) -> GLibError {
        guard let proxy = target.proxy, let password = proxy.password, !password.isEmpty else { return error }
        let shown = [password, escaped(password)].contains { containsText($0, in: error.message) }
        guard shown else { return error }
        return GLibError(domain: error.domain, code: error.code, message: "the proxy refused (details withheld)")
    }

    private func containsText(_ text: String, in message: String) -> Bool {
        g_strstr_len(message, -1, text) != nil
    }
}

extension ProxyOptions {
    /// The proxy's URI with its credentials, for GIO only.
    var uri: String {
        guard let user else { return description }
        let credentials = escaped(user) + (password.map { ":" + escaped($0) } ?? "")
        return "http://\(credentials)@" + description.dropFirst("http://".count)
    }
}

private func escaped(_ text: String) -> String {
    guard let copy = g_uri_escape_string(text, nil, gboolean(0)) else { return "" }
    defer { g_free(copy) }
    return String(cString: copy)
}
