package import GLibRuntime

/// Dials through GIO.
@MainLoop
package final class SocketTransport: StreamTransport {
    /// Creates the transport.
    package init() {}

    package func dial(_ target: DialTarget, timeout: Duration) async throws -> any StreamSocket {
        Socket(try await SocketConnection.dial(target, deadline: timeout))
    }

    /// A connection of GIO as a stream reads it.
    @MainLoop
    private final class Socket: StreamSocket {
        private let connection: SocketConnection
        private var failure: String?
        private var isReading = false
        var onReadable: (@MainLoop () -> Void)?

        init(_ connection: SocketConnection) {
            self.connection = connection
            connection.onEnd = { [weak self] end in
                guard let self else { return }
                failure = end.description
                onReadable?()
            }
        }

        var unsentCount: Int { connection.unsentByteCount }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamRead {
            if let failure { return .failed(failure) }
            do throws(GLibError) {
                return switch try connection.read(into: buffer) {
                case .bytes(let count): .bytes(count)
                case .wouldBlock: .nothing
                case .endOfFile: .end
                }
            } catch {
                return .failed("reading failed: \(error.message)")
            }
        }

        func write(_ bytes: [UInt8]) {
            connection.write(bytes)
        }

        func setReading(_ isOn: Bool) {
            guard isOn != isReading else { return }
            isReading = isOn
            guard isOn else { return connection.pauseReading() }
            connection.startReading { [weak self] in self?.onReadable?() }
        }

        func drop() {
            onReadable = nil
            connection.abort()
        }
    }
}
