#if Desktop
    package import GLibRuntime
    package import RelayCore

    /// Popups on the desktop, through libnotify.
    ///
    /// The daemon is asked first, on the main loop, so that one that hangs or is absent normally costs no more than
    /// a call that runs out of time. If it hangs in between, the attempt ends in time all the same, and no other
    /// popup is begun until libnotify has given up.
    @MainLoop
    package final class DesktopSink: Sink {
        package nonisolated let name: String
        /// libnotify shows one popup at a time.
        package nonisolated let inFlight = 1

        private let clock: any RelayClock
        private let daemon: NotificationDaemon
        /// The call that libnotify is at, if there is one.
        private var current: PopupCall?
        /// The popup shown last, and when.
        private var latest: (popup: Popup, time: Instant)?
        /// Keys of deliveries whose popup came up after their attempt had ended.
        ///
        /// The next attempt takes its key out; of those that never come, the oldest are forgotten.
        private var shownLate: [String] = []
        private static let mostShownLate = 100

        /// How long an attempt waits for libnotify.
        private static let limit = Duration.seconds(5)

        /// Creates the sink and finds the session bus; to be called early, see `SessionBusAddress.settle`.
        package init(name: String, configuration: DesktopConfiguration, clock: any RelayClock, log: Log) {
            self.name = name
            self.clock = clock
            SessionBusAddress.settle()
            daemon = NotificationDaemon(log: log)
        }

        /// Returns when a notification daemon is there, or when the task is cancelled.
        ///
        /// A worker that awaits it before it claims delivers what waited as soon as the daemon appears. A daemon that
        /// the bus can start is started.
        package func awaitReady() async {
            await daemon.awaitAppearance()
        }

        @MainLoop package func deliver(_ delivery: Delivery) async -> Outcome {
            while let current {
                guard await current.outcome(within: Self.limit, clock: clock) != nil else {
                    return .retry(after: nil, because: "libnotify still waits for the notification daemon")
                }
            }
            if let index = shownLate.firstIndex(of: delivery.key) {
                shownLate.remove(at: index)
                return .delivered
            }
            let capabilities: [String]
            do throws(SessionBusFailure) {
                capabilities = try await daemon.capabilities()
            } catch {
                return .retry(after: nil, because: NotificationDaemon.reason(of: error))
            }
            let popup = Popup(delivery.notice, capabilities: capabilities)
            if let latest, latest.popup == popup {
                // Some daemons take the same text within a second for a mistake of the sender.
                try? await clock.sleep(until: latest.time + .seconds(1))
            }
            if Task.isCancelled { return .retry(after: nil, because: "cancelled") }
            let outcome = await show(popup, key: delivery.key)
            latest = (popup, clock.now())
            return outcome
        }

        @MainLoop package func close() async {
            daemon.stop()
        }

        private func show(_ popup: Popup, key: String) async -> Outcome {
            let call = PopupCall()
            current = call
            Libnotify.shared.show(popup) { outcome in
                MainLoop.post { self.finish(call, key: key, outcome) }
            }
            if let outcome = await call.outcome(within: Self.limit, clock: clock) { return outcome }
            call.isAbandoned = true
            return .retry(
                after: nil, because: "the notification daemon took no popup within \(Self.limit)", trouble: .failed)
        }

        private func finish(_ call: PopupCall, key: String, _ outcome: Outcome) {
            if current === call { current = nil }
            if call.isAbandoned, outcome == .delivered {
                shownLate.append(key)
                if shownLate.count > Self.mostShownLate { shownLate.removeFirst() }
            }
            call.finish(outcome)
        }
    }

    /// A call of libnotify that a task waits for, though not for ever.
    @MainLoop
    private final class PopupCall {
        /// Whether nobody waits for it any more.
        var isAbandoned = false
        private var outcome: Outcome?
        private var waiters: [AsyncStream<Void>.Continuation] = []

        func finish(_ outcome: Outcome) {
            self.outcome = outcome
            for waiter in waiters { waiter.yield() }
            waiters = []
        }

        /// Waits for the outcome; nil if it did not come in time or the task is cancelled.
        func outcome(within limit: Duration, clock: any RelayClock) async -> Outcome? {
            guard outcome == nil else { return outcome }
            let (ends, continuation) = AsyncStream<Void>.makeStream()
            waiters.append(continuation)
            let deadline = clock.now() + limit
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in ends { return } }
                group.addTask { try? await clock.sleep(until: deadline) }
                await group.next()
                group.cancelAll()
            }
            return outcome
        }
    }
#endif
