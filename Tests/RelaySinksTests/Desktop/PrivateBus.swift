import FoundationEssentials
import Glibc
import RelayTestKit
import Testing

/// A session bus of the test process alone, which starts no services.
///
/// A process has one shared connection to the session bus, so all tests use this one.
final class PrivateBus: @unchecked Sendable {
    // Used by one test at a time: the suites that use it are serialized under one parent.
    static let shared = try? PrivateBus()
    static let isAvailable =
        TestProcess.isInstalled("/usr/bin/dbus-daemon") && TestProcess.isInstalled("/usr/bin/python3")

    private let folder: TemporaryFolder
    var directory: String { folder.path }
    private var daemon: TestProcess
    private let words: [String]

    private init() throws {
        folder = try TemporaryFolder()
        let path = folder.file("bus")
        let configuration = """
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(path)</listen>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """
        let file = folder.write("bus.conf", configuration)
        words = ["dbus-daemon", "--config-file=\(file)", "--nofork", "--nopidfile", "--print-address=1"]
        setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=\(path)", 1)
        daemon = try TestProcess(words)
        _ = daemon.line()
        atexit { PrivateBus.shared?.remove() }
    }

    private func remove() {
        daemon.end()
        // The shared one lives as long as the process, so that nothing else removes it.
        folder.remove()
    }

    /// Ends the bus and starts another one at the same address.
    func restart() throws {
        daemon.end()
        daemon = try TestProcess(words)
        _ = daemon.line()
    }
}

/// A notification daemon that does as it is told and reports every `Notify`.
struct ScriptedDaemon {
    /// A call of `Notify`.
    struct Call: Decodable, Equatable {
        var summary: String
        var body: String
        var urgency: Int
        var category: String
        var entry: String
        var replaces: Int
        var actions: Int
        var timeout: Int
    }

    let process: TestProcess

    /// Starts the daemon and waits until it owns the name.
    ///
    /// `answer` is `ok`, `silent`, a number of milliseconds to wait, or the name of an error.
    init(capabilities: [String] = ["body"], answer: String = "ok") throws {
        process = try TestProcess(["/usr/bin/python3", "-c", Self.script, capabilities.joined(separator: " "), answer])
        try #require(process.line() == "ready")
    }

    /// Awaits the next call of `Notify`.
    func nextCall() throws -> Call {
        try JSONDecoder().decode(Call.self, from: Data(try #require(process.line()).utf8))
    }

    private static let script = """
        import dbus, dbus.service, dbus.mainloop.glib, json, sys
        from gi.repository import GLib
        dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
        capabilities, answer = sys.argv[1].split(), sys.argv[2]
        interface = "org.freedesktop.Notifications"
        class Daemon(dbus.service.Object):
            @dbus.service.method(interface, in_signature="", out_signature="as")
            def GetCapabilities(self):
                return dbus.Array(capabilities, signature="s")
            @dbus.service.method(interface, in_signature="", out_signature="ssss")
            def GetServerInformation(self):
                return ("scripted", "test", "1", "1.2")
            @dbus.service.method(interface, in_signature="susssasa{sv}i", out_signature="u",
                                 async_callbacks=("reply", "error"))
            def Notify(self, app, replaces, icon, summary, body, actions, hints, timeout, reply, error):
                print(json.dumps({"summary": summary, "body": body, "urgency": int(hints["urgency"]),
                                  "category": hints["category"], "entry": hints["desktop-entry"],
                                  "replaces": replaces, "actions": len(actions), "timeout": timeout}), flush=True)
                if answer == "ok":
                    reply(1)
                elif answer.isdigit():
                    GLib.timeout_add(int(answer), lambda: reply(1))
                elif answer != "silent":
                    error(dbus.DBusException("no", name=answer))
        bus = dbus.SessionBus()
        daemon = Daemon(bus, "/org/freedesktop/Notifications")
        name = dbus.service.BusName(interface, bus, replace_existing=True, do_not_queue=True)
        print("ready", flush=True)
        GLib.MainLoop().run()
        """
}
