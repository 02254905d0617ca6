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
