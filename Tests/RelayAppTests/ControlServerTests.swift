import GLibRuntime
import Glibc
import RelayCore
import RelayTestKit
import Testing

@testable import RelayApp

/// The control socket against clients that do as they like.
@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct ControlServerTests {
    /// A server whose connections come over loopback TCP, with a peer of the test's choice.
    @MainLoop
    private final class Place {
        let log = RecordedLog()
        let server: ControlServer
        let listener: SocketListener
        private let task: Task<Void, Never>
        private let folder: TemporaryFolder

        init(user: UInt32 = 1000, peer: UInt32 = 1000, patience: Duration = .seconds(30), most: Int = 8) throws {
            let folder = try TemporaryFolder()
            self.folder = folder
            let server = ControlServer(
                user: user, limits: .init(request: 1000, patience: patience), mostConnections: most, log: log.log
            ) { .object([("ok", true), ("echo", .string(String(decoding: $0, as: UTF8.self)))]) }
            self.server = server
            listener = try SocketListener { server.accept($0, from: .init(user: peer, process: 1)) }
            task = Task { @MainLoop in await server.run(at: folder.path + "/control.sock") }
        }

        func client() async throws -> Client {
            Client(try await SocketConnection.dial(DialTarget(host: "127.0.0.1", port: listener.port)))
        }

        func close() async {
            listener.close()
            task.cancel()
            await task.value
        }
    }

    /// A client that keeps what it gets.
    @MainLoop
    private final class Client {
        let connection: SocketConnection
        private var text: [UInt8] = []
        private var isOver = false
        private let bell = Doorbell()

        init(_ connection: SocketConnection) {
            self.connection = connection
            connection.startReading { [weak self] in self?.readable() }
        }

        func send(_ text: String) { connection.write(Array(text.utf8)) }

        func lines(_ count: Int) async -> [String] {
            while !isOver, text.count(where: { $0 == UInt8(ascii: "\n") }) < count { await bell.waitForRing() }
            return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        }

        func all() async -> [String] { await lines(.max) }

        private func readable() {
            var chunk = [UInt8](repeating: 0, count: 4096)
            switch try? chunk.withUnsafeMutableBytes({ try connection.read(into: $0) }) {
            case .bytes(let count)?: text += chunk[..<count]
            case .wouldBlock?: return
            case .endOfFile?, nil:
                isOver = true
                connection.abort()
            }
            bell.ring()
        }
    }

    @Test func requestsAreAnsweredInOrder() async throws {
        let place = try Place()
        let client = try await place.client()
        client.send("one\ntwo\nth")
        #expect(await client.lines(2) == [#"{"ok":true,"echo":"one"}"#, #"{"ok":true,"echo":"two"}"#])
        client.send("ree\n")
        #expect(await client.lines(3).last == #"{"ok":true,"echo":"three"}"#)
        await place.close()
        #expect(await client.all().count == 3)
    }

    @Test(arguments: [UInt32(1001), 65_534]) func anotherUserGetsNothing(user: UInt32) async throws {
        let place = try Place(peer: user)
        let client = try await place.client()
        client.send("one\n")
        #expect(await client.all().isEmpty)
        #expect(await place.log.first(containing: "another user was turned away").fields.first?.value == String(user))
        await place.close()
    }

    @Test func rootIsLetIn() async throws {
        let place = try Place(peer: 0)
        let client = try await place.client()
        client.send("one\n")
        #expect(await client.lines(1) == [#"{"ok":true,"echo":"one"}"#])
        await place.close()
    }

    @Test(arguments: [1001, 5000, 200_000]) func aRequestThatIsTooLongIsRefused(length: Int) async throws {
        for end in ["", "\n"] {
            let place = try Place()
            let client = try await place.client()
            client.send(String(repeating: "x", count: length) + end)
            #expect(await client.all() == [#"{"ok":false,"error":"the request is longer than 1000 bytes"}"#])
            await place.close()
        }
    }

    @Test func aClientThatSendsTooSlowlyIsSentAway() async throws {
        let place = try Place(patience: .milliseconds(100))
        let client = try await place.client()
        client.send("half of a requ")
        #expect(await client.all() == [#"{"ok":false,"error":"no request came for 100ms"}"#])
        await place.close()
    }

    @Test func thereIsAnEndToTheNumberOfClients() async throws {
        let place = try Place(most: 2)
        let clients = [try await place.client(), try await place.client()]
        for client in clients {
            client.send("one\n")
            #expect(await client.lines(1).count == 1)
        }
        #expect(await (try place.client()).all() == [#"{"ok":false,"error":"too many connections at once"}"#])
        clients[0].connection.abort()
        // The place is free as soon as the server has seen that.
        var answer: [String] = []
        while answer != [#"{"ok":true,"echo":"two"}"#] {
            let client = try await place.client()
            client.send("two\n")
            answer = await client.lines(1)
        }
        await place.close()
    }

    @Test func whatARelayLeftIsReplacedAndAFileIsNot() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/control.sock"
        let log = RecordedLog()
        func run() async {
            let server = ControlServer(log: log.log) { _ in .null }
            let task = Task { @MainLoop in await server.run(at: path) }
            _ = await log.first(containing: path)
            task.cancel()
            await task.value
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(bound == 0)
        close(descriptor)
        await run()
        #expect(log.text.contains("listening for commands") && !log.text.contains("cannot reach"))
        #expect(access(path, F_OK) != 0)
        folder.write("control.sock", "precious")
        let server = ControlServer(log: log.log) { _ in .null }
        await server.run(at: path)
        #expect(log.text.contains("control.sock is there and is no socket"))
        #expect(access(path, F_OK) == 0)
    }

    @Test func aPathThatIsTooLongIsTold() async throws {
        let log = RecordedLog()
        let path = "/tmp/" + String(repeating: "x", count: 103)
        await ControlServer(log: log.log) { _ in .null }.run(at: path)
        #expect(log.text.contains("is longer than the 107 bytes that the system allows; choose a shorter directory"))
    }
}
