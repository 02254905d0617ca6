internal import Glibc
internal import RelayCore

/// Asks a running relay, from a command: blocking calls, since there is nothing else to do.
struct ControlClient {
    private let directories: [String]

    /// How long a relay may take to answer, in milliseconds.
    private static let patience: Int32 = 10_000

    /// Looks for a relay where `--state` and `--no-state` say, else in the usual places.
    init(_ arguments: ParsedArguments, environment: (String) -> String? = SecretReader.processEnvironment)
        throws(CommandFault)
    {
        if arguments.has("state"), arguments.has("no-state") {
            throw CommandFault(.usage, "--state and --no-state exclude each other")
        }
        let runtime = ControlPlace.runtimeDirectory(environment)
        if let state = arguments.options["state"] {
            directories = [state]
        } else if arguments.has("no-state") {
            directories = [runtime].compactMap(\.self)
        } else {
            directories = [StateDirectory.usualPath(environment), runtime].compactMap(\.self)
        }
    }

    /// Returns the answer to a request.
    ///
    /// - Throws: `CommandFault` (1) if no relay runs there, or if it answers with an error.
    func ask(_ request: JSONValue) throws(CommandFault) -> ConfigurationNode {
        let descriptor = try connect()
        defer { close(descriptor) }
        try send(request.line + [UInt8(ascii: "\n")], to: descriptor)
        return try Self.checked(try receive(from: descriptor))
    }

    /// Reads an answer.
    ///
    /// - Throws: `CommandFault` (1) if it says that the request is refused.
    static func checked(_ answer: [UInt8]) throws(CommandFault) -> ConfigurationNode {
        let problems = Problems()
        guard let node = ConfigurationParser.parse(answer, problems: problems), let isFine = node["ok"] else {
            throw CommandFault(.failed, "the relay gave no answer that can be read")
        }
        if case .bool(true) = isFine.value { return node }
        throw CommandFault(.failed, Shown.printable(node["error"]?.text ?? "the relay refused without a reason"))
    }

    /// Whether a relay listens.
    var findsRelay: Bool {
        directories.contains { directory in
            let path = ControlPlace.socket(in: directory)
            guard ControlPlace.fault(ofSocket: path) == nil else { return false }
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            defer { close(descriptor) }
            return descriptor >= 0 && Self.connect(descriptor, to: path) == 0
        }
    }

    private func connect() throws(CommandFault) -> Int32 {
        for directory in directories {
            let path = ControlPlace.socket(in: directory)
            if let fault = ControlPlace.fault(ofSocket: path) { throw CommandFault(.failed, fault) }
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw Self.failure("socket") }
            if Self.connect(descriptor, to: path) == 0 { return descriptor }
            let code = errno
            close(descriptor)
            if code != ENOENT, code != ECONNREFUSED, code != ENOTDIR {
                throw CommandFault(.failed, "\(path): \(String(cString: strerror(code)))")
            }
        }
        let places = directories.map { ControlPlace.socket(in: $0) }.joined(separator: " or ")
        throw CommandFault(
            .failed,
            places.isEmpty
                ? "no relay can be found: there is no state directory, and $XDG_RUNTIME_DIR is not set"
                : "no relay is running that listens at \(places)")
    }

    private static func connect(_ descriptor: Int32, to path: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) throws(CommandFault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("send") }
            rest = rest.dropFirst(count)
        }
    }

    /// Receives one line.
    private func receive(from descriptor: Int32) throws(CommandFault) -> [UInt8] {
        var line: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while line.last != UInt8(ascii: "\n") {
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&state, 1, Self.patience)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { throw CommandFault(.failed, "the relay does not answer") }
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw CommandFault(.failed, "the relay closed the connection without an answer") }
            line += chunk[..<count]
            guard line.count <= ConfigurationParser.largestFile else {
                throw CommandFault(.failed, "the relay's answer is too long")
            }
        }
        return line
    }

    private static func failure(_ call: String) -> CommandFault {
        CommandFault(.failed, "\(call): \(String(cString: strerror(errno)))")
    }
}

extension ConfigurationNode {
    /// A member of an answer.
    subscript(key: String) -> ConfigurationNode? {
        guard case .object(let members) = value else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The text of a string or a number.
    var text: String? {
        switch value {
        case .string(let text), .number(let text): text
        default: nil
        }
    }
}
