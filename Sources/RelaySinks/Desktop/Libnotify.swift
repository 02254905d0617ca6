#if Desktop
    internal import CNotify
    internal import GLibRuntime
    internal import RelayCore

    /// libnotify, on a thread of its own.
    ///
    /// Its calls wait for the daemon for up to 25 s, so they must run neither on the main loop nor on a task's
    /// thread. The library has one state for the whole process, and so there is one of these. Its thread runs a GLib
    /// main context, in which the signals of shown notifications arrive; without one they would pile up.
    actor Libnotify {
        static let shared = Libnotify()

        private nonisolated let executor = MainLoopExecutor(name: "desktop")
        private var isInitialised = false

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        /// Shows a popup soon and calls `completion` on the library's thread; never waits.
        nonisolated func show(_ popup: Popup, completion: @escaping @Sendable (Outcome) -> Void) {
            executor.post { self.assumeIsolated { completion($0.show(popup)) } }
        }

        private func show(_ popup: Popup) -> Outcome {
            do throws(SessionBusFailure) {
                guard try connect() else {
                    return .retry(after: nil, because: "the connection to the session bus is being closed")
                }
            } catch {
                return .retry(after: nil, because: NotificationDaemon.reason(of: error))
            }
            guard let notification = notify_notification_new(popup.summary, popup.body, popup.icon) else {
                return .retry(after: nil, because: "notify_notification_new made nothing")
            }
            // The popup stays when the object goes.
            defer { g_object_unref(UnsafeMutableRawPointer(notification)) }
            notify_notification_set_urgency(notification, popup.urgency.level)
            notify_notification_set_timeout(notification, NOTIFY_EXPIRES_DEFAULT)
            notify_notification_set_category(notification, "im.received")
            notify_notification_set_hint(notification, "desktop-entry", g_variant_new_string("chirp-relay"))
            var error: UnsafeMutablePointer<GError>?
            if notify_notification_show(notification, &error) != 0 { return .delivered }
            guard let error else { return .retry(after: nil, because: "notify_notification_show failed") }
            defer { g_error_free(error) }
            return Self.outcome(of: relay_notify_error_message(error).map { String(cString: $0) } ?? "no message")
        }

        /// Has the library initialised over an open connection; returns false if only later that can be.
        private func connect() throws(SessionBusFailure) -> Bool {
            if try !SharedSessionBus.isOpen() {
                // The bus went away. The library holds the dead connection for as long as it is initialised.
                notify_uninit()
                isInitialised = false
                guard try SharedSessionBus.isOpen() else { return false }
            }
            if !isInitialised { isInitialised = notify_init("chirp-relay") != 0 }
            return isInitialised
        }

        /// Every failure passes: the daemon restarts, or is replaced by one that takes the popup.
        private static func outcome(of message: String) -> Outcome {
            let isExcess =
                message.contains("ExcessNotificationGeneration") || message.contains("MaxNotificationsExceeded")
            // So many at once are too many for the daemon; what was shown must first go away.
            if isExcess { return .retry(after: .seconds(5), because: "the notification daemon has too many popups") }
            return .retry(after: nil, because: "the notification daemon: \(message)")
        }
    }

    extension Urgency {
        fileprivate var level: NotifyUrgency {
            switch self {
            case .low: NOTIFY_URGENCY_LOW
            case .normal: NOTIFY_URGENCY_NORMAL
            case .critical: NOTIFY_URGENCY_CRITICAL
            }
        }
    }
#endif
