import GLibRuntime
import Glibc

/// Values that callbacks publish and a test awaits one by one.
struct Published<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func publish(_ value: Value) {
        continuation.yield(value)
    }

    /// Returns the next value; `nil` only when the test is cancelled by its time limit.
    func next() async -> Value? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }

    /// Returns the first value that satisfies `condition`.
    func first(where condition: (Value) -> Bool) async -> Value? {
        while let value = await next() {
            if condition(value) { return value }
        }
        return nil
    }
}

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/glib-tests-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemFailure(call: "mkdtemp", number: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        guard let directory = opendir(path) else { return }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            unlink(path + "/" + name)
        }
        closedir(directory)
        rmdir(path)
    }

    func file(_ name: String) -> String { path + "/" + name }

    /// Writes in place.
    func write(_ text: String, to name: String) throws {
        let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw SystemFailure(call: "open", number: errno) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw SystemFailure(call: "write", number: errno)
        }
    }
}

struct SystemFailure: Error {
    let call: String
    let number: Int32
}

/// The number of open descriptors of this process.
func openDescriptorCount() -> Int {
    guard let directory = opendir("/proc/self/fd") else { return -1 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
}

/// Collects what a connection receives.
@MainLoop
final class Receiver {
    let connection: SocketConnection
    private(set) var bytes: [UInt8] = []
    private(set) var isEnded = false
    private let progress = Published<Void>()
    private let chunk: Int

    init(_ connection: SocketConnection, chunk: Int = 4096) {
        self.connection = connection
        self.chunk = chunk
        connection.startReading { [weak self] in self?.readOnce() }
    }

    private func readOnce() {
        var buffer = [UInt8](repeating: 0, count: chunk)
        switch try? buffer.withUnsafeMutableBytes({ try connection.read(into: $0) }) {
        case .bytes(let count)?: bytes.append(contentsOf: buffer[..<count])
        case .wouldBlock?: return
        case .endOfFile?, nil:
            isEnded = true
            connection.pauseReading()
        }
        progress.publish(())
    }

    func waitForBytes(_ count: Int) async {
        while bytes.count < count, !isEnded, await progress.next() != nil {}
    }

    func waitForEnd() async {
        while !isEnded, await progress.next() != nil {}
    }
}
