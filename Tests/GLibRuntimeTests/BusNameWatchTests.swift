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
