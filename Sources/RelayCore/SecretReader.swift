internal import GLibRuntime
internal import Glibc

/// Why a secret cannot be had.
///
/// Names its place and never quotes a value.
package struct SecretFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// Which place: `environment variable NAME`, `file PATH`.
    package var label: String
    /// What is wrong with it.
    package var reason: String

    /// Creates a failure.
    package init(label: String, reason: String) {
        self.label = label
        self.reason = reason
    }

    package var description: String { "\(label): \(reason)" }
}

/// Reads secrets from the places that the rules file names, anew at every call.
package struct SecretReader: Sendable {
    /// The most bytes of a secret; far more than any token, and little enough to refuse a wrong file.
    package static let limit = 65_536
    /// How long a command may run.
    package static let commandTimeout = Duration.seconds(10)

    private let folder: String
    private let environment: @Sendable (String) -> String?

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - folder: the folder of the rules file, to which relative paths relate; empty for the working directory.
    ///   - environment: looks up an environment variable.
    package init(
        folder: String, environment: @escaping @Sendable (String) -> String? = SecretReader.processEnvironment
    ) {
        self.folder = folder
        self.environment = environment
    }

    /// Looks up a variable of the process.
    package static let processEnvironment: @Sendable (String) -> String? = { name in
        getenv(name).map { String(cString: $0) }
    }

    /// Returns `path` as it is meant from the folder of the rules file.
    package func absolute(_ path: String) -> String {
        path.hasPrefix("/") || folder.isEmpty ? path : folder + "/" + path
    }

    /// Returns the file whose change may bring another secret, or nil if the place is no file.
    package func file(of source: SecretSource) -> String? {
        switch source {
        case .file(let path, _): absolute(path)
        case .credential(let name): environment("CREDENTIALS_DIRECTORY").map { $0 + "/" + name }
        case .environment, .command: nil
        }
    }

    /// Reads the secret.
    ///
    /// - Throws: `SecretFailure` if there is none, if it is empty, holds control characters (which could forge a
    ///   header), or lies in a file that others can change or read.
    package func read(_ source: SecretSource) async throws(SecretFailure) -> Secret {
        let label = source.label
        switch source {
        case .environment(let name):
            guard let value = environment(name) else { throw SecretFailure(label: label, reason: "is not set") }
            return try secret(Array(value.utf8), label: label)
        case .file(let path, let insecure):
            return try file(absolute(path), privacy: insecure ? .open : .secret, label: label)
        case .credential(let name):
            guard !name.contains("/"), name != ".." else {
                throw SecretFailure(label: label, reason: "is no name of a credential")
            }
            guard let path = file(of: source) else {
                throw SecretFailure(label: label, reason: "$CREDENTIALS_DIRECTORY is not set; is this a systemd unit?")
            }
            // systemd guards the folder and may give the files an access list that shows as a group's right.
            return try file(path, privacy: .open, label: label)
        case .command(let words):
            return try secret(try await output(of: words, label: label), label: label)
        }
    }

    private func file(_ path: String, privacy: FileSafety.Privacy, label: String) throws(SecretFailure) -> Secret {
        let bytes: [UInt8]
        do throws(FileSafety.Fault) {
            bytes = try FileSafety.read(path, privacy: privacy, limit: Self.limit)
        } catch {
            throw SecretFailure(label: label, reason: error.description)
        }
        return try secret(bytes, label: label)
    }

    private func secret(_ bytes: [UInt8], label: String) throws(SecretFailure) -> Secret {
        var bytes = bytes[...]
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw SecretFailure(label: label, reason: "is empty") }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw SecretFailure(label: label, reason: "holds a line break or another control character")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SecretFailure(label: label, reason: "is not UTF-8")
        }
        return Secret(text)
    }
}

extension SecretReader {
    /// Returns what a command printed.
    private func output(of words: [String], label: String) async throws(SecretFailure) -> [UInt8] {
        do {
            return try await CommandOutput.read(words, timeout: Self.commandTimeout, limit: Self.limit)
        } catch let fault as CommandOutput.Fault {
            throw SecretFailure(label: label, reason: fault.description)
        } catch {
            throw SecretFailure(label: label, reason: "was interrupted")
        }
    }
}
