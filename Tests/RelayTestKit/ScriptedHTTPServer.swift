internal import GLibRuntime
internal import Glibc

/// An HTTP/1.1 server on a loopback port that does what a script says, with raw bytes, on threads of its own.
package final class ScriptedHTTPServer: Sendable {
    /// One request as it came.
    package struct Request: Sendable {
        /// The number of its connection, from 0 in the order accepted.
        package var connection: Int
        /// The number of the request among all, from 0.
        package var index: Int
        package var method = ""
        package var target = ""
        /// The fields, with names in lower case.
        package var headers: [(name: String, value: String)] = []
        package var body: [UInt8] = []

        /// Returns the value of the first field `name`.
        package func header(_ name: String) -> String? {
            headers.first { $0.name == name }?.value
        }
    }

    /// What the server does about a request.
    package enum Reply: Sendable {
        /// Sends the bytes and waits for the next request.
        case send(String)
        /// Sends the bytes and closes.
        case sendAndClose(String)
        /// Closes without an answer.
        case close
        /// Breaks the connection with a TCP reset.
        case reset
        /// Answers nothing, until the other side closes.
        case hang
        /// Sends a piece again and again, until the other side closes.
        case sendForEver(head: String, piece: String)
    }

    /// What happened.
    package enum Event: Sendable {
        case request(Request)
        case closed(connection: Int)
    }

    private struct State {
        var requests: [Request] = []
        var connections = 0
        var open: Set<Int32> = []
        var byteCount = 0
    }

    /// The port that it listens on.
    package let port: UInt16
    /// What happens, for one reader.
    package let events: AsyncStream<Event>
    private let listener: Int32
    private let script: @Sendable (Request) -> Reply
    private let happened: AsyncStream<Event>.Continuation
    private let state = Locked(State())

    /// Begins to listen.
    package init(_ script: @escaping @Sendable (Request) -> Reply) throws {
        (listener, port) = try Self.listen()
        self.script = script
        (events, happened) = AsyncStream.makeStream()
        Self.detach { [self] in acceptAll() }
    }

    /// All requests so far.
    package var requests: [Request] { state.withLock { $0.requests } }
    /// How many connections were accepted so far.
    package var connectionCount: Int { state.withLock { $0.connections } }
    /// How many bytes came so far.
    package var byteCount: Int { state.withLock { $0.byteCount } }

    /// Returns a URL of this server.
    package func url(_ resource: String = "/", scheme: String = "http") -> String {
        "\(scheme)://127.0.0.1:\(port)\(resource)"
    }

    /// Returns an answer whose length is told.
    package static func answer(_ status: String = "200 OK", _ fields: [String] = [], _ body: String = "") -> String {
        (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields).joined(separator: "\r\n")
            + "\r\n\r\n\(body)"
    }

    /// Stops listening and closes all connections.
    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        for descriptor in state.withLock({ $0.open }) { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    // MARK: Threads

    private func acceptAll() {
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { break }
            let number = state.withLock { state in
                state.open.insert(descriptor)
                defer { state.connections += 1 }
                return state.connections
            }
            Self.detach { [self] in
                serve(descriptor, number)
                state.withLock { _ = $0.open.remove(descriptor) }
                close(descriptor)
                happened.yield(.closed(connection: number))
            }
        }
        close(listener)
    }

    private func serve(_ descriptor: Int32, _ number: Int) {
        var unread: [UInt8] = []
        while var request = readRequest(descriptor, &unread) {
            request.connection = number
            request = state.withLock { state in
                request.index = state.requests.count
                state.requests.append(request)
                return request
            }
            happened.yield(.request(request))
            switch script(request) {
            case .send(let text): send(text, descriptor)
            case .sendAndClose(let text):
                send(text, descriptor)
                return
            case .close: return
            case .reset:
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
                return
            case .hang:
                while readMore(descriptor, &unread) { unread = [] }
                return
            case .sendForEver(let head, let piece):
                send(head, descriptor)
                while send(piece, descriptor) {}
                return
            }
        }
    }

    @discardableResult
    private func send(_ text: String, _ descriptor: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private func readMore(_ descriptor: Int32, _ bytes: inout [UInt8]) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        guard count > 0 else { return false }
        state.withLock { $0.byteCount += count }
        bytes += chunk.prefix(count)
        return true
    }

    private func readRequest(_ descriptor: Int32, _ bytes: inout [UInt8]) -> Request? {
        while true {
            if let end = bytes.indices.first(where: { bytes[$0...].starts(with: "\r\n\r\n".utf8) }) {
                var request = Self.parse(bytes[..<end])
                let length = request.header("content-length").flatMap { Int($0) } ?? 0
                while bytes.count < end + 4 + length {
                    guard readMore(descriptor, &bytes) else { return nil }
                }
                request.body = Array(bytes[(end + 4)...].prefix(length))
                bytes.removeFirst(end + 4 + length)
                return request
            }
            guard readMore(descriptor, &bytes) else { return nil }
        }
    }

    private static func parse(_ head: ArraySlice<UInt8>) -> Request {
        var request = Request(connection: 0, index: 0)
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n").map(String.init)
        let words = (lines.first ?? "").split(separator: " ").map(String.init)
        request.method = words.first ?? ""
        request.target = words.dropFirst().first ?? ""
        request.headers = lines.dropFirst().map { line in
            let name = line.prefix { $0 != ":" }
            let value = line.dropFirst(name.count + 1).drop { $0 == " " }
            return (name.lowercased(), String(value))
        }
        return request
    }

    private static func listen() throws -> (Int32, UInt16) {
        struct Failure: Error { var number = errno }
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && Glibc.listen(descriptor, 64) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        guard isListening else { throw Failure() }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    private static func detach(_ body: @escaping @Sendable () -> Void) {
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Box(body)).toOpaque()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, context)
        if code == 0 { pthread_detach(thread) }
    }
}
