import GLibRuntime
import Glibc
import RelayTestKit
import Testing

@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct UnixSocketTests {
    /// Connects as any program does; that does not wait, since the listener's queue takes it.
    private func connect(_ path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            defer { close(descriptor) }
            throw SystemFailure(call: "connect", number: errno)
        }
        return descriptor
    }

    private struct Accepted: Sendable {
        var connection: SocketConnection
        var peer: UnixSocketListener.Peer
    }

    @Test func thePeerIsKnownAndBytesGoBothWays() async throws {
        let folder = try TemporaryFolder()
        let accepted = Published<Accepted>()
        let listener = try UnixSocketListener(path: folder.file("s")) {
            accepted.publish(Accepted(connection: $0, peer: $1))
        }
        let client = try connect(folder.file("s"))
        defer { close(client) }
        let server = try #require(await accepted.next())
        #expect(server.peer == UnixSocketListener.Peer(user: geteuid(), process: getpid()))
        #expect(write(client, "ping", 4) == 4)
        let receiver = Receiver(server.connection)
        await receiver.waitForBytes(4)
        #expect(receiver.bytes == Array("ping".utf8))
        server.connection.write(Array("pong!".utf8))
        var answer = [UInt8](repeating: 0, count: 16)
        #expect(read(client, &answer, 16) == 5)
        #expect(answer.prefix(5) == ArraySlice("pong!".utf8))
        listener.close()
    }

    @Test func theFileIsForItsUserOnlyAndGoesWithTheListener() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("s")
        let listener = try UnixSocketListener(path: path) { _, _ in }
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode == S_IFSOCK | 0o600)
        #expect(throws: GLibError.self) { try UnixSocketListener(path: path) { _, _ in } }
        listener.close()
        #expect(lstat(path, &status) != 0)
        listener.close()
        #expect(throws: SystemFailure.self) { try connect(path) }
    }

    @Test func noDescriptorIsLeftOpen() throws {
        let folder = try TemporaryFolder()
        // What is opened once stays.
        try UnixSocketListener(path: folder.file("s")) { _, _ in }.close()
        let before = openDescriptorCount()
        for _ in 0..<20 { try UnixSocketListener(path: folder.file("s")) { _, _ in }.close() }
        #expect(openDescriptorCount() <= before)
    }
}
