internal import CGLib

/// Tells who owns a name on the session bus, as owners come and go.
///
/// Starts neither the bus nor the service, never waits, and outlives both: while there is no bus it looks again
/// every half minute. Each change is told once.
@MainLoop
package final class BusNameWatch {
    private let name: String
    private let onAppear: @MainLoop (_ owner: String) -> Void
    private let onVanish: @MainLoop () -> Void
    private let retryDelay: Duration
    private let cancellable = Cancellable()
    private var connection: ObjectReference?
    private var closedHandler: gulong = 0
    private var watch: guint = 0
    private var retry: LoopTimer?
    private var isStopped = false
    /// The owner told last; an empty one is none.
    private var toldOwner: String?

    /// Watches `name`.
    ///
    /// One of the two closures is called soon: `onVanish` if nobody owns it or there is no bus.
    package init(
        name: String, retryDelay: Duration = .seconds(30), onAppear: @escaping @MainLoop (_ owner: String) -> Void,
        onVanish: @escaping @MainLoop () -> Void
    ) {
        self.name = name
        self.retryDelay = retryDelay
        self.onAppear = onAppear
        self.onVanish = onVanish
        retry = LoopTimer { [weak self] _ in self?.connect() }
        MainLoop.post { [weak self] in self?.connect() }
    }

    isolated deinit {
        stop()
    }

    /// Stops watching; nothing more is told.
    package func stop() {
        isStopped = true
        retry?.cancel()
        cancellable.cancel()
        disconnect()
    }

    // MARK: - The bus

    /// Returns the session bus's address, or `nil`: without one GIO would start a bus of its own.
    nonisolated package static func address(environment: (String) -> String?, exists: (String) -> Bool) -> String? {
        if let address = environment("DBUS_SESSION_BUS_ADDRESS"), !address.isEmpty {
            return address.utf8.starts(with: "autolaunch:".utf8) ? nil : address
        }
        guard let directory = environment("XDG_RUNTIME_DIR"), !directory.isEmpty, exists(directory + "/bus") else {
            return nil
        }
        guard let escaped = g_dbus_address_escape_value(directory + "/bus") else { return nil }
        defer { g_free(escaped) }
        return "unix:path=" + String(cString: escaped)
    }

    private static func currentAddress() -> String? {
        address(
            environment: { g_getenv($0).map { String(cString: $0) } },
            exists: { g_file_test($0, G_FILE_TEST_EXISTS) != 0 })
    }

    private func connect() {
        guard !isStopped, connection == nil else { return }
        guard let address = Self.currentAddress() else { return lost() }
        let flags = GDBusConnectionFlags(
            rawValue: G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
                | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
        g_dbus_connection_new_for_address(
            address, flags, nil, cancellable.pointer,
            { _, result, data in
                guard let data else { return }
                let reference = Unmanaged<WeakBusNameWatch>.fromOpaque(data).takeRetainedValue()
                nonisolated(unsafe) let result = result
                MainLoop.assumeIsolated {
                    guard let made = g_dbus_connection_new_for_address_finish(result, nil) else {
                        reference.watch?.lost()
                        return
                    }
                    reference.watch?.connected(ObjectReference(adopting: made))
                }
            }, Unmanaged.passRetained(WeakBusNameWatch(self)).toOpaque())
    }

    private func connected(_ connection: ObjectReference) {
        guard !isStopped else { return }
        self.connection = connection
        closedHandler = relay_on_bus_closed(
            connection.opaque, { _, _, _, data in LoopCallback.run(data) },
            LoopCallback { [weak self] in self?.busClosed() }.retainedPointer(),
            { data, _ in LoopCallback.release(data) })
        watch = g_bus_watch_name_on_connection(
            connection.opaque, name, G_BUS_NAME_WATCHER_FLAGS_NONE,
            { _, _, text, data in
                guard let data, let text else { return }
                let owner = String(cString: text)
                let reference = Unmanaged<WeakBusNameWatch>.fromOpaque(data).takeUnretainedValue()
                MainLoop.assumeIsolated { reference.watch?.tell(owner) }
            },
            { _, _, data in
                guard let data else { return }
                let reference = Unmanaged<WeakBusNameWatch>.fromOpaque(data).takeUnretainedValue()
                MainLoop.assumeIsolated { reference.watch?.nameVanished() }
            }, Unmanaged.passRetained(WeakBusNameWatch(self)).toOpaque(),
            { data in
                guard let data else { return }
                Unmanaged<WeakBusNameWatch>.fromOpaque(data).release()
            })
    }

    private func nameVanished() {
        // GIO tells it for a closed bus too; that is told once, by `busClosed`.
        guard let connection, g_dbus_connection_is_closed(connection.opaque) == 0 else { return }
        tell("")
    }

    private func tell(_ owner: String) {
        guard !isStopped, owner != toldOwner else { return }
        toldOwner = owner
        if owner.isEmpty { onVanish() } else { onAppear(owner) }
    }

    private func busClosed() {
        disconnect()
        lost()
    }

    private func lost() {
        guard !isStopped else { return }
        retry?.schedule(after: retryDelay)
        tell("")
    }

    private func disconnect() {
        guard let connection else { return }
        self.connection = nil
        g_signal_handler_disconnect(connection.raw, closedHandler)
        if watch != 0 { g_bus_unwatch_name(watch) }
        watch = 0
        g_dbus_connection_close(connection.opaque, nil, nil, nil)
    }
}

/// What the C side holds of a watch, so that it does not keep it alive.
private final class WeakBusNameWatch: Sendable {
    // Read and written on the loop only.
    nonisolated(unsafe) private(set) weak var watch: BusNameWatch?

    init(_ watch: BusNameWatch) {
        self.watch = watch
    }
}
