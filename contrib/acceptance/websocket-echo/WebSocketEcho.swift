import GLibRuntime
import Glibc
import WebSocketCodec

/// The program under test of the conformance suite: for every case it connects and sends all messages back.
///
/// Called as `websocket-echo URL AGENT FIRST LAST`. At the end it asks the server to write its reports; a range that
/// ends before it begins does only that.
@main
struct WebSocketEcho {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let first = Int(arguments[3]), let last = Int(arguments[4]) else {
            print("usage: websocket-echo URL AGENT FIRST LAST")
            exit(64)
        }
        let (url, agent) = (arguments[1], arguments[2])
        for number in stride(from: first, through: last, by: 1) {
            await visit("\(url)/runCase?case=\(number)&agent=\(agent)")
        }
        await visit("\(url)/updateReports?agent=\(agent)")
    }

    /// Echoes on one connection until it ends, and tells a failure that is not the protocol's.
    private static func visit(_ address: String) async {
        do {
            try await EchoConnection.open(WebSocketURL(address)).run()
        } catch {
            print("\(address): \(error)")
        }
    }
}
