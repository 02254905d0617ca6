#if Desktop

    import FoundationEssentials
    import GLibRuntime
    import Glibc
    import RelayCore
    import RelayTestKit
    import Testing
    @testable import RelaySinks

    /// With a real bus and a daemon that the test scripts.
    @Suite(
        .serialized, .timeLimit(.minutes(1)),
        .enabled(if: PrivateBus.isAvailable, "dbus-daemon and python3-dbus are needed"))
    struct DesktopSinkTests {
        private let bus: PrivateBus
        private let logged = Locked<[String]>([])

        init() throws {
            bus = try #require(PrivateBus.shared)
        }

        private func sink() async -> DesktopSink {
            let logged = logged
            return await DesktopSink(
                name: "desktop", configuration: DesktopConfiguration(), clock: BootClock(),
                log: Log(level: .info) { entry in logged.withLock { $0.append(entry.message) } })
        }

        @Test func popupArrivesWhole() async throws {
            let daemon = try ScriptedDaemon(capabilities: ["body", "body-markup"])
            defer { daemon.process.end() }
            var delivery = Delivery.sample(title: "alice commented", body: "nice & <b>bold</b>")
            delivery.notice.urgency = .critical
            delivery.notice.link = UntrustedText("https://chirp.example.com/p?a=1&b=2")
            #expect(await sink().deliver(delivery) == .delivered)
            let call = try daemon.nextCall()
            #expect(
                call
                    == ScriptedDaemon.Call(
                        summary: "alice commented",
                        body: "nice &amp; &lt;b&gt;bold&lt;/b&gt;\nhttps://chirp.example.com/p?a=1&amp;b=2", urgency: 2,
                        category: "im.received", entry: "chirp-relay", replaces: 0, actions: 0, timeout: -1))
        }

        @Test func bodyIsPlainForADaemonWithoutMarkup() async throws {
            let daemon = try ScriptedDaemon(capabilities: ["body"])
            defer { daemon.process.end() }
            #expect(await sink().deliver(.sample(title: "A&B <3", body: "A&B <3")) == .delivered)
            let call = try daemon.nextCall()
            #expect(call.body == "A&B <3")
            #expect(call.summary == "A&B <3")
        }

        @Test func nextDaemonIsAskedAnew() async throws {
            let sink = await sink()
            for (capabilities, body) in [
                (["body-markup"], "a &lt; b"), (["body"], "a < b"), (["body-markup"], "a &lt; b"),
            ] {
                let daemon = try ScriptedDaemon(capabilities: capabilities)
                #expect(await sink.deliver(.sample(body: "a < b")) == .delivered)
                #expect(try daemon.nextCall().body == body)
                daemon.process.end()
            }
        }

        @Test func absentDaemonIsToldOnceAndRetried() async throws {
            let sink = await sink()
            let expected = Outcome.retry(after: nil, because: "no notification daemon on the session bus")
            #expect(await sink.deliver(.sample()) == expected)
            #expect(await sink.deliver(.sample()) == expected)
            #expect(logged.withLock { $0 } == ["no notification daemon on the session bus; popups wait"])
            let daemon = try ScriptedDaemon()
            defer { daemon.process.end() }
            #expect(await sink.deliver(.sample()) == .delivered)
            #expect(logged.withLock { $0.last } == "the notification daemon answers; popups are shown again")
        }

        @Test func daemonThatAppearsEndsTheWait() async throws {
            let sink = await sink()
            async let available: Void = sink.awaitReady()
            let daemon = try ScriptedDaemon()
            defer { daemon.process.end() }
            await available
            #expect(await sink.deliver(.sample()) == .delivered)
            await sink.awaitReady()
        }

        @Test func cancelledWaitReturns() async {
            let sink = await sink()
            let wait = Task { await sink.awaitReady() }
            wait.cancel()
            await wait.value
        }

        @Test func stoppedDaemonIsGivenUpInTimeAndWithoutLibnotify() async throws {
            let daemon = try ScriptedDaemon()
            defer { daemon.process.end() }
            daemon.process.signal(SIGSTOP)
            let sink = await sink()
            let start = ContinuousClock.now
            #expect(
                await sink.deliver(.sample()) == .retry(after: nil, because: "the notification daemon does not answer"))
            #expect(ContinuousClock.now - start < .seconds(7))
            daemon.process.signal(SIGCONT)
            #expect(await sink.deliver(.sample()) == .delivered)
        }

        @Test func popupThatCameLateIsNotShownTwice() async throws {
            let daemon = try ScriptedDaemon(answer: "7000")
            defer { daemon.process.end() }
            let sink = await sink()
            let start = ContinuousClock.now
            guard case .retry = await sink.deliver(.sample(key: "LATE", title: "one")) else {
                return #expect(Bool(false), "no retry")
            }
            #expect(ContinuousClock.now - start < .seconds(6))
            #expect(await sink.deliver(.sample(key: "LATE", title: "one")) == .delivered)
            #expect(try daemon.nextCall().summary == "one")
            async let next = sink.deliver(.sample(key: "OTHER", title: "two"))
            #expect(try daemon.nextCall().summary == "two")
            _ = await next
        }

        @Test func cancelledAttemptEndsSoon() async throws {
            let daemon = try ScriptedDaemon(answer: "6000")
            defer { daemon.process.end() }
            let sink = await sink()
            let attempt = Task { await sink.deliver(.sample(key: "CANCELLED")) }
            _ = try daemon.nextCall()
            let start = ContinuousClock.now
            attempt.cancel()
            guard case .retry = await attempt.value else { return #expect(Bool(false), "no retry") }
            #expect(ContinuousClock.now - start < .seconds(1))
        }

        @Test func tooManyPopupsPauseTheSink() async throws {
            let daemon = try ScriptedDaemon(answer: "org.freedesktop.Notifications.Error.ExcessNotificationGeneration")
            defer { daemon.process.end() }
            #expect(
                await sink().deliver(.sample())
                    == .retry(after: .seconds(5), because: "the notification daemon has too many popups"))
        }

        @Test func otherErrorsAreRetried() async throws {
            let daemon = try ScriptedDaemon(answer: "org.example.Odd")
            defer { daemon.process.end() }
            guard case .retry(after: nil, let reason, _) = await sink().deliver(.sample()) else {
                return #expect(Bool(false), "no retry")
            }
            #expect(reason.contains("org.example.Odd"))
        }

        @Test func restartedBusIsFoundAgain() async throws {
            let sink = await sink()
            let first = try ScriptedDaemon()
            #expect(await sink.deliver(.sample()) == .delivered)
            try bus.restart()
            first.process.end()
            let second = try ScriptedDaemon()
            defer { second.process.end() }
            var attempts = 0
            while await sink.deliver(.sample(title: "again")) != .delivered, attempts < 20 { attempts += 1 }
            #expect(try second.nextCall().summary == "again")
        }

        @Test func sameTextWaitsASecond() async throws {
            let daemon = try ScriptedDaemon()
            defer { daemon.process.end() }
            let sink = await sink()
            let start = ContinuousClock.now
            #expect(await sink.deliver(.sample(key: "1")) == .delivered)
            #expect(await sink.deliver(.sample(key: "2", title: "other")) == .delivered)
            #expect(await sink.deliver(.sample(key: "3", title: "other")) == .delivered)
            #expect(ContinuousClock.now - start >= .seconds(1))
        }

        @Test func memoryStaysFlat() async throws {
            let daemon = try ScriptedDaemon()
            defer { daemon.process.end() }
            let sink = await sink()
            func show(_ count: Int) async throws -> Int {
                for number in 0..<count {
                    #expect(await sink.deliver(.sample(title: "\(number)")) == .delivered)
                    _ = try daemon.nextCall()
                }
                let statm = String(decoding: try Data(contentsOf: URL(filePath: "/proc/self/statm")), as: UTF8.self)
                return Int(statm.split(separator: " ")[1]) ?? 0
            }
            let before = try await show(200)
            let after = try await show(1000)
            #expect(after - before < 512, "pages: \(before), then \(after)")
        }
    }
#endif
