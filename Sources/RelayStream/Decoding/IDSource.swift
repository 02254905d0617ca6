internal import RelayCore

/// Gives ids to events that come without one; they never repeat.
///
/// An id names the stream, a random number drawn when the program started, the connection, and a count.
package struct IDSource: Sendable {
    private let stream: String
    private let random: UInt64
    private var prefix: [UInt8]
    private var count: UInt64 = 0

    /// Creates the source for one connection of a stream.
    ///
    /// No two sources of one stream and run may have the same connection number (that of a catch-up included).
    package init(stream: String, random: UInt64, connection: UInt64) {
        self.stream = stream
        self.random = random
        prefix = []
        begin(connection: connection)
    }

    /// Starts counting anew, for the next connection.
    package mutating func begin(connection: UInt64) {
        prefix = Array("\(stream)-\(String(random, radix: 16))-\(connection)-".utf8)
        count = 0
    }

    /// Appends the next id to `storage` and returns where it is.
    mutating func next(into storage: inout [UInt8]) -> TextRange {
        count &+= 1
        let offset = storage.count
        storage.append(contentsOf: prefix)
        storage.append(contentsOf: String(count).utf8)
        return TextRange(offset: UInt32(offset), count: UInt32(storage.count - offset))
    }
}
