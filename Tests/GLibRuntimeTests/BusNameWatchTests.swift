import GLibRuntime
import Glibc
import Testing

/// A bus daemon of the test's own.
final class PrivateBus: Sendable {
    let address: String
    private let processID: pid_t

    init() async throws {
        let output = try await CommandOutput.read(
            ["dbus-daemon", "--session", "--fork", "--print-address=1", "--print-pid=1"], timeout: .seconds(20),
            limit: 1000)
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
        address = String(try #require(lines.first))
        processID = try #require(lines.last.flatMap { pid_t($0) })
    }

    func stop() { kill(processID, SIGTERM) }

    deinit { stop() }
}

@Suite(.serialized, .timeLimit(.minutes(1)))
@MainLoop
struct BusNameWatchTests {
    private enum Seen: Equatable {
        case appeared
        case vanished
    }

    @Test func absentBusIsAVanishedName() async {
        setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1)
        let seen = Published<Seen>()
        let watch = BusNameWatch(name: "org.example.Name") { _ in
            seen.publish(.appeared)
        } onVanish: {
            seen.publish(.vanished)
        }
        #expect(await seen.next() == .vanished)
        watch.stop()
    }

    @Test func malformedAddressIsAVanishedName() async {
        for address in ["not an address", "autolaunch:", "tcp:host"] {
            setenv("DBUS_SESSION_BUS_ADDRESS", address, 1)
            let seen = Published<Seen>()
            let watch = BusNameWatch(name: "org.example.Name") { _ in
                seen.publish(.appeared)
            } onVanish: {
                seen.publish(.vanished)
            }
            #expect(await seen.next() == .vanished)
            watch.stop()
        }
    }

    @Test func laterBusIsFound() async throws {
        unsetenv("DBUS_SESSION_BUS_ADDRESS")
        unsetenv("XDG_RUNTIME_DIR")
        let seen = Published<Seen>()
        let watch = BusNameWatch(name: "org.freedesktop.DBus", retryDelay: .milliseconds(10)) { _ in
            seen.publish(.appeared)
        } onVanish: {
            seen.publish(.vanished)
        }
        #expect(await seen.next() == .vanished)
        let bus = try await PrivateBus()
        setenv("DBUS_SESSION_BUS_ADDRESS", bus.address, 1)
        #expect(await seen.next() == .appeared)
        watch.stop()
    }

    @Test(
        arguments: [
            (["DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"], "unix:path=/x"),
            (["XDG_RUNTIME_DIR": "/run/user/1 0"], "unix:path=/run/user/1%200/bus"),
            (["DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": "/run"], "unix:path=/run/bus"),
            (["DBUS_SESSION_BUS_ADDRESS": "autolaunch:", "XDG_RUNTIME_DIR": "/run"], nil),
            (["XDG_RUNTIME_DIR": "/gone"], nil),
            ([:], nil),
        ] as [([String: String], String?)])
    func addressComesFromTheEnvironment(environment: [String: String], expected: String?) {
        let address = BusNameWatch.address(
            environment: { environment[$0] }, exists: { ["/run/user/1 0/bus", "/run/bus"].contains($0) })
        #expect(address == expected)
    }

    @Test func ownersComeAndGoAndSoDoesTheBus() async throws {
        let bus = try await PrivateBus()
        setenv("DBUS_SESSION_BUS_ADDRESS", bus.address, 1)
        let seen = Published<Seen>()
        let watch = BusNameWatch(name: "org.freedesktop.DBus") { _ in
            seen.publish(.appeared)
        } onVanish: {
            seen.publish(.vanished)
        }
        let unowned = Published<Seen>()
        let other = BusNameWatch(name: "org.example.Nobody") { _ in
            unowned.publish(.appeared)
        } onVanish: {
            unowned.publish(.vanished)
        }
        #expect(await seen.next() == .appeared)
        #expect(await unowned.next() == .vanished)
        bus.stop()
        #expect(await seen.next() == .vanished)
        withExtendedLifetime((watch, other)) {}
    }
}
