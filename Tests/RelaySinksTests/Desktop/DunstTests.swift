#if Desktop

    import FoundationEssentials
    import Glibc
    import RelayCore
    import RelayTestKit
    import Testing
    @testable import RelaySinks

    extension DesktopSinkTests {
        /// With the real dunst on a virtual screen.
        @Suite(
            .enabled(
                if: TestProcess.isInstalled("/usr/bin/dunst") && TestProcess.isInstalled("/usr/bin/Xvfb"),
                "dunst and Xvfb are needed"))
        struct DunstTests {
            @Test func realDaemonShowsHangsAndComesBack() async throws {
                let bus = try #require(PrivateBus.shared)
                let screen = try TestProcess([
                    "Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp",
                ])
                defer { screen.end() }
                let display = try #require(screen.line())
                let configuration = bus.directory + "/dunstrc"
                try Data("[global]\nmarkup = full\n".utf8).write(to: URL(filePath: configuration))
                let sink = await DesktopSink(
                    name: "desktop", configuration: DesktopConfiguration(), clock: BootClock(), log: .silent)
                async let available: Void = sink.awaitReady()
                let dunst = try TestProcess(["dunst", "-conf", configuration], variables: ["DISPLAY": ":" + display])
                defer { dunst.end() }
                await available
                for name in HostileText.all {
                    #expect(await sink.deliver(.sample(title: name, body: name)) == .delivered)
                }
                dunst.signal(SIGSTOP)
                guard case .retry = await sink.deliver(.sample()) else { return #expect(Bool(false), "no retry") }
                dunst.signal(SIGCONT)
                #expect(await sink.deliver(.sample()) == .delivered)
            }
        }
    }
#endif
