package import GLibRuntime

/// The bytes of one connection, after TCP, proxy and TLS.
@MainLoop
package protocol StreamSocket: AnyObject {
    /// Is called while there is something to read, the end or a failure included, as long as reading is on.
    var onReadable: (@MainLoop () -> Void)? { get set }
    /// How many bytes have been written and not been taken by the system.
    var unsentCount: Int { get }
    /// Reads what is there into `buffer`, without waiting.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamRead
    /// Sends bytes, or queues what the system does not take. A failure shows at the next read.
    func write(_ bytes: [UInt8])
    /// Turns `onReadable` off or on.
    func setReading(_ isOn: Bool)
    /// Drops the connection at once. Nothing is called any more.
    func drop()
}

/// What a read brought.
package enum StreamRead: Sendable, Equatable {
    /// This many bytes, at least one.
    case bytes(Int)
    /// Nothing yet.
    case nothing
    /// The peer ended its side.
    case end
    /// The connection failed.
    case failed(String)
}

/// Makes sockets: the real one through GIO, in tests a scripted one under a virtual clock.
@MainLoop
package protocol StreamTransport: AnyObject {
    /// Returns a socket to the target, which may take `timeout` in all.
    ///
    /// - Throws: an error whose description says how far it came, with the host and without any secret; or
    ///   `CancellationError` when the task was cancelled.
    func dial(_ target: DialTarget, timeout: Duration) async throws -> any StreamSocket
}
