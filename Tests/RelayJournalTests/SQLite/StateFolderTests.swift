import Glibc
import RelayTestKit
import Testing

@testable import RelayJournal

struct StateFolderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        stat(path, &status)
        return status.st_mode & 0o777
    }

    @Test func itIsMadeForThisUserAlone() throws {
        let path = folder.path + "/a/b/state"
        try StateFolder.prepare(path)
        #expect(mode(path) == 0o700 && mode(folder.path + "/a") == 0o700)
        try StateFolder.prepare(path)
    }

    @Test func oneThatIsThereStaysAsItIs() throws {
        chmod(folder.path, 0o755)
        try StateFolder.prepare(folder.path)
        #expect(mode(folder.path) == 0o755)
        chmod(folder.path, 0o777)
        #expect(throws: StateFolder.Fault.openToAll(path: folder.path, mode: 0o777)) {
            try StateFolder.prepare(folder.path)
        }
    }

    @Test func whatIsNoFolderIsRefusedWithARemedy() throws {
        let file = folder.write("file", "")
        #expect(throws: StateFolder.Fault.noFolder(path: file)) { try StateFolder.prepare(file) }
        let fault = #expect(throws: StateFolder.Fault.self) { try StateFolder.prepare("/proc/relay/state") }
        #expect(fault?.description.contains("/proc/relay") == true && fault?.description.contains("--no-state") == true)
    }

    @Test func theLockTellsWhoHasIt() throws {
        var lock: StateLock? = try StateLock(of: folder.path)
        #expect(throws: StateFolder.Fault.inUse(path: folder.path, process: Int(getpid()))) {
            try StateLock(of: folder.path)
        }
        #expect(mode(folder.path + "/lock") == 0o600)
        withExtendedLifetime(lock) {}
        lock = nil
        _ = try StateLock(of: folder.path)
    }
}
