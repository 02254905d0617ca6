internal import CGLib

/// Where the session bus is.
package enum SessionBusAddress {
    /// Returns the address of the session bus, or nil if there is none. Nothing is ever started to have one.
    ///
    /// `DBUS_SESSION_BUS_ADDRESS` counts if it is well-formed; else the socket `bus` in `XDG_RUNTIME_DIR`, as the
    /// D-Bus specification's "Well-known Message Bus Instances" and systemd have it.
    package static func find(environment: (String) -> String?, exists: (String) -> Bool) -> String? {
        if let address = environment(variable), isUsable(address) { return address }
        guard let directory = environment("XDG_RUNTIME_DIR"), directory.utf8.first == UInt8(ascii: "/") else {
            return nil
        }
        let path = directory + "/bus"
        guard exists(path), let escaped = g_dbus_address_escape_value(path) else { return nil }
        defer { g_free(escaped) }
        return "unix:path=" + String(cString: escaped)
    }

    /// Finds the bus in the environment of the process, and makes that what libraries see as well.
    ///
    /// A library that finds no address would start a bus of its own. The environment is written only where the
    /// variable is absent or wrong; call it early, as other threads may be reading the environment.
    ///
    /// - Returns: the address, or nil if there is no bus.
    @discardableResult
    package static func settle() -> String? {
        let found = find(
            environment: { name in g_getenv(name).map { String(cString: $0) } },
            exists: { g_file_test($0, G_FILE_TEST_EXISTS) != 0 })
        if let found, found != g_getenv(variable).map({ String(cString: $0) }) { g_setenv(variable, found, 1) }
        return found
    }

    private static let variable = "DBUS_SESSION_BUS_ADDRESS"

    private static func isUsable(_ address: String) -> Bool {
        !address.isEmpty && !address.contains("autolaunch:") && g_dbus_is_supported_address(address, nil) != 0
    }
}

/// Why a call over the session bus brought nothing.
package enum SessionBusFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no bus, or it cannot be reached.
    case noBus(String)
    /// Nobody owns the name, and no service can be started that would.
    case noOwner
    /// The owner of the name did not answer in time.
    case noAnswer
    /// The owner of the name, or the bus, answered with an error.
    case refused(String)

    package var description: String {
        switch self {
        case .noBus(let reason): "the session bus cannot be reached: \(reason)"
        case .noOwner: "nobody owns the name on the session bus"
        case .noAnswer: "no answer over the session bus in time"
        case .refused(let reason): "a call over the session bus failed: \(reason)"
        }
    }
}

/// A connection to the session bus for calls; opened when it is needed, and again when the bus came back.
@MainLoop
package final class SessionBus {
    private var connection: ObjectReference?

    /// Creates a connection that is not open yet.
    package init() {}

    /// Calls a method without arguments that answers with a list of strings; a service that the bus can start for the
    /// name is started.
    ///
    /// The C function is g_dbus_connection_call. Cancelling the task ends the call.
    package func strings(
        from name: String, path: String, interface: String, method: String, within limit: Duration
    ) async throws(SessionBusFailure) -> [String] {
        let cancellable = Cancellable()
        let timer = LoopTimer { _ in cancellable.cancel() }
        timer.schedule(after: limit)
        defer { timer.cancel() }
        let result = await withTaskCancellationHandler {
            await call(name, path, interface, method, cancellable)
        } onCancel: {
            cancellable.cancelSoon()
        }
        return try result.get()
    }

    private func call(
        _ name: String, _ path: String, _ interface: String, _ method: String, _ cancellable: Cancellable
    ) async -> Result<[String], SessionBusFailure> {
        do throws(SessionBusFailure) {
            let connection = try await open(cancellable)
            let result = await asyncOperation { callback, data in
                g_dbus_connection_call(
                    connection.opaque, name, path, interface, method, nil, nil, G_DBUS_CALL_FLAGS_NONE, -1,
                    cancellable.pointer, callback, data)
            }
            var error: UnsafeMutablePointer<GError>?
            guard let reply = g_dbus_connection_call_finish(connection.opaque, result.pointer, &error) else {
                throw Self.failure(GLibError(taking: error))
            }
            defer { g_variant_unref(reply) }
            return .success(try Self.strings(of: reply))
        } catch {
            return .failure(error)
        }
    }

    private func open(_ cancellable: Cancellable) async throws(SessionBusFailure) -> ObjectReference {
        if let connection, g_dbus_connection_is_closed(connection.opaque) == 0 { return connection }
        connection = nil
        guard let address = SessionBusAddress.settle() else { throw .noBus("it has no address") }
        let flags = GDBusConnectionFlags(
            rawValue: G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
                | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
        let result = await asyncOperation { callback, data in
            g_dbus_connection_new_for_address(address, flags, nil, cancellable.pointer, callback, data)
        }
        var error: UnsafeMutablePointer<GError>?
        guard let made = g_dbus_connection_new_for_address_finish(result.pointer, &error) else {
            throw .noBus(GLibError(taking: error).message)
        }
        let reference = ObjectReference(adopting: made)
        connection = reference
        return reference
    }

    private static func failure(_ error: GLibError) -> SessionBusFailure {
        if error.isIO(G_IO_ERROR_CANCELLED) || error.isIO(G_IO_ERROR_TIMED_OUT) { return .noAnswer }
        if error.isIO(G_IO_ERROR_CLOSED) { return .noBus(error.message) }
        guard error.domain == "g-dbus-error-quark" else { return .refused(error.message) }
        switch error.code {
        case Int32(G_DBUS_ERROR_SERVICE_UNKNOWN.rawValue), Int32(G_DBUS_ERROR_NAME_HAS_NO_OWNER.rawValue):
            return .noOwner
        case Int32(G_DBUS_ERROR_NO_REPLY.rawValue), Int32(G_DBUS_ERROR_TIMEOUT.rawValue),
            Int32(G_DBUS_ERROR_TIMED_OUT.rawValue):
            return .noAnswer
        default: return .refused(error.message)
        }
    }

    /// The strings of a reply of the type `(as)`.
    private static func strings(of reply: OpaquePointer) throws(SessionBusFailure) -> [String] {
        let type = g_variant_get_type_string(reply).map { String(cString: $0) } ?? ""
        guard type == "(as)" else { throw .refused("the answer has the type \(type)") }
        guard let list = g_variant_get_child_value(reply, 0) else { return [] }
        defer { g_variant_unref(list) }
        return (0..<g_variant_n_children(list)).compactMap { index in
            guard let item = g_variant_get_child_value(list, index) else { return nil }
            defer { g_variant_unref(item) }
            return g_variant_get_string(item, nil).map { String(cString: $0) }
        }
    }
}

/// The connection to the session bus that libraries of this process share.
package enum SharedSessionBus {
    /// Opens it if need be, and keeps its end from ending the process, which is GIO's default.
    ///
    /// Blocks, so it is for a thread of its own. The C function is g_bus_get_sync.
    ///
    /// - Returns: false if it is closed and somebody still holds it.
    package static func isOpen() throws(SessionBusFailure) -> Bool {
        var error: UnsafeMutablePointer<GError>?
        guard let connection = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, &error) else {
            throw .noBus(GLibError(taking: error).message)
        }
        defer { g_object_unref(UnsafeMutableRawPointer(connection)) }
        g_dbus_connection_set_exit_on_close(connection, 0)
        return g_dbus_connection_is_closed(connection) == 0
    }
}
