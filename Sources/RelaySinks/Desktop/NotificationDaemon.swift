#if Desktop
    internal import GLibRuntime
    internal import RelayCore

    /// Whoever owns `org.freedesktop.Notifications` on the session bus, asked without ever waiting for it elsewhere
    /// than in a task.
    @MainLoop
    final class NotificationDaemon {
        private static let name = "org.freedesktop.Notifications"
        /// A daemon that takes longer is taken to hang.
        private static let limit = Duration.seconds(5)

        private let log: Log
        private let bus = SessionBus()
        private var watch: BusNameWatch?
        private var isPresent = false
        /// What was told last, so that it is told once.
        private var told: String?
        private var waiters: [Int: AsyncStream<Void>.Continuation] = [:]
        private var lastWaiter = 0

        init(log: Log) {
            self.log = log
            watch = BusNameWatch(
                name: Self.name, onAppear: { [weak self] _ in self?.appeared() },
                onVanish: { [weak self] in self?.isPresent = false })
        }

        /// Asks the daemon what it can do, which also shows that it answers; one that the bus can start is started.
        ///
        /// It is asked before every popup, so that nothing known of a former daemon is used for the next one.
        func capabilities() async throws(SessionBusFailure) -> [String] {
            do {
                let capabilities = try await bus.strings(
                    from: Self.name, path: "/org/freedesktop/Notifications", interface: Self.name,
                    method: "GetCapabilities", within: Self.limit)
                answers()
                return capabilities
            } catch {
                tell(of: error)
                throw error
            }
        }

        /// Returns when somebody owns the name, or when the task is cancelled.
        func awaitAppearance() async {
            guard !isPresent else { return }
            let (appearances, continuation) = AsyncStream<Void>.makeStream()
            lastWaiter += 1
            let waiter = lastWaiter
            waiters[waiter] = continuation
            defer { waiters[waiter] = nil }
            for await _ in appearances { return }
        }

        /// Watches no more.
        func stop() {
            watch?.stop()
            watch = nil
        }

        private func appeared() {
            isPresent = true
            for waiter in waiters.values { waiter.yield() }
        }

        private func answers() {
            if told != nil { log(.info, "desktop", "the notification daemon answers; popups are shown again") }
            told = nil
        }

        private func tell(of failure: SessionBusFailure) {
            let message =
                switch failure {
                case .noBus(let reason): "no session bus (\(reason)); popups wait"
                case .noOwner: "no notification daemon on the session bus; popups wait"
                case .noAnswer: "the notification daemon does not answer; popups wait"
                case .refused(let reason): "the notification daemon refuses (\(reason)); popups wait"
                }
            guard told != message else { return }
            told = message
            log(.warning, "desktop", message)
        }
    }
#endif
