import GLibRuntime
import RelayTestKit

/// An authority and certificates made by `openssl` for one test.
final class Certificates: Sendable {
    let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        folder.write(
            "ca.cnf",
            """
            [ca]
            default_ca = authority
            [authority]
            database = \(folder.file("index"))
            new_certs_dir = \(folder.path)
            serial = \(folder.file("serial"))
            default_md = sha256
            policy = policy
            copy_extensions = copy
            [policy]
            commonName = supplied
            """)
        folder.write("index", "")
        folder.write("serial", "1000")
        try await openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=Test CA",
            "-days", "30", "-keyout", folder.file("ca.key"), "-out", caFile,
        ])
    }

    var caFile: String { folder.file("ca.pem") }

    /// Makes a certificate for `host`, signed by the authority.
    func issue(host: String, from: String = "20200101000000Z", to: String = "20490101000000Z") async throws
        -> SocketListener.Certificate
    {
        let name = "\(host)-\(to)"
        try await openssl([
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(host)", "-addext",
            "subjectAltName=DNS:\(host)", "-keyout", folder.file(name + ".key"), "-out", folder.file(name + ".csr"),
        ])
        try await openssl([
            "ca", "-batch", "-config", folder.file("ca.cnf"), "-cert", caFile, "-keyfile", folder.file("ca.key"),
            "-startdate", from, "-enddate", to, "-notext", "-in", folder.file(name + ".csr"), "-out",
            folder.file(name + ".pem"),
        ])
        return SocketListener.Certificate(
            certificateFile: folder.file(name + ".pem"), keyFile: folder.file(name + ".key"))
    }

    /// Makes a certificate for `host` that vouches for itself.
    func selfSigned(host: String) async throws -> SocketListener.Certificate {
        try await openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(host)",
            "-addext", "subjectAltName=DNS:\(host)", "-days", "30", "-keyout", folder.file("self.key"), "-out",
            folder.file("self.pem"),
        ])
        return SocketListener.Certificate(
            certificateFile: folder.file("self.pem"), keyFile: folder.file("self.key"))
    }

    private func openssl(_ words: [String]) async throws {
        _ = try await CommandOutput.read(["openssl"] + words, timeout: .seconds(30), limit: 1 << 20)
    }
}
