import Glibc
import RelayCore
import RelayTestKit
import Testing

/// Secrets from every place, and every reason to refuse one.
@Suite(.timeLimit(.minutes(1)))
struct SecretReaderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func reader(_ environment: [String: String] = [:]) -> SecretReader {
        SecretReader(folder: folder.path) { environment[$0] }
    }

    private func failure(_ source: SecretSource, _ environment: [String: String] = [:]) async -> String? {
        do {
            _ = try await reader(environment).read(source)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func everyPlaceGivesItsValue() async throws {
        folder.write("token", "T-file\n", mode: 0o600)
        folder.write("cred", "T-cred", mode: 0o400)
        let reader = reader(["TOKEN": "T-env", "CREDENTIALS_DIRECTORY": folder.path])
        #expect(try await reader.read(.environment("TOKEN")).reveal() == "T-env")
        #expect(try await reader.read(.file(path: "token", insecure: false)).reveal() == "T-file")
        #expect(try await reader.read(.file(path: folder.path + "/token", insecure: false)).reveal() == "T-file")
        #expect(try await reader.read(.credential("cred")).reveal() == "T-cred")
        #expect(try await reader.read(.command(["printf", "T-command\\n"])).reveal() == "T-command")
    }

    @Test func onlyOneNewlineIsCut() async throws {
        folder.write("token", "T\n\n", mode: 0o600)
        #expect(await failure(.file(path: "token", insecure: false))?.contains("line break") == true)
    }

    @Test func absentPlacesAreNamed() async {
        #expect(await failure(.environment("NOPE")) == "environment variable NOPE: is not set")
        #expect(await failure(.file(path: "nope", insecure: false))?.contains("No such file") == true)
        #expect(await failure(.credential("x"))?.contains("CREDENTIALS_DIRECTORY") == true)
        #expect(await failure(.credential("../x"), ["CREDENTIALS_DIRECTORY": "/"])?.contains("no name") == true)
        #expect(await failure(.command(["false"]))?.contains("status 1") == true)
        #expect(await failure(.command(["/no/such/command"]))?.contains("could not be started") == true)
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\u{0}b", "a\tb", "", "\n", "a\u{7f}"])
    func unfitValueIsRefusedAndNotQuoted(_ value: String) async {
        folder.write("token", value, mode: 0o600)
        let told = await failure(.file(path: "token", insecure: false))
        #expect(told != nil)
        #expect(told?.contains("Evil") == false)
    }

    @Test func environmentValueIsCheckedToo() async {
        #expect(await failure(.environment("T"), ["T": "a\r\nb"])?.contains("line break") == true)
    }

    @Test(arguments: [0o622, 0o602, 0o620, 0o666] as [mode_t])
    func fileThatOthersCanWriteIsRefused(_ mode: mode_t) async {
        folder.write("token", "T", mode: mode)
        #expect(await failure(.file(path: "token", insecure: false))?.contains("written by others") == true)
        #expect(await failure(.file(path: "token", insecure: true))?.contains("written by others") == true)
    }

    @Test(arguments: [0o644, 0o604, 0o640] as [mode_t])
    func fileThatOthersCanReadIsRefusedUnlessInsecure(_ mode: mode_t) async {
        folder.write("token", "T", mode: mode)
        #expect(await failure(.file(path: "token", insecure: false))?.contains("chmod 600") == true)
        #expect(await failure(.file(path: "token", insecure: true)) == nil)
    }

    @Test func fileThatIsNoneIsRefusedWithoutWaiting() async {
        mkfifo(folder.path + "/fifo", 0o600)
        #expect(await failure(.file(path: "fifo", insecure: false))?.contains("no regular file") == true)
        #expect(await failure(.file(path: folder.path, insecure: false))?.contains("no regular file") == true)
    }

    @Test func largeFileIsRefused() async {
        folder.write("token", String(repeating: "x", count: SecretReader.limit + 1), mode: 0o600)
        #expect(await failure(.file(path: "token", insecure: false))?.contains("larger than") == true)
    }

    @Test func fileOfAnotherUserIsRefused() throws {
        guard geteuid() == 0 else { return }
        folder.write("token", "T", mode: 0o600)
        chown(folder.path + "/token", 12345, 12345)
        let fault = #expect(throws: FileSafety.Fault.self) {
            try FileSafety.read(folder.path + "/token", privacy: .open, limit: 100)
        }
        #expect(fault?.reason == .ownedBy(user: 12345))
    }

    @Test func rulesFileMayBeReadByAll() throws {
        folder.write("rules.json", "{}", mode: 0o644)
        #expect(try FileSafety.read(folder.path + "/rules.json", privacy: .open, limit: 100) == Array("{}".utf8))
    }
}
