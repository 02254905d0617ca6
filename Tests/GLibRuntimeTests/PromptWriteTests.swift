import GLibRuntime
import Glibc
import RelayTestKit
import Testing

struct PromptWriteTests {
    private func withPipe(_ body: (Int32) throws -> Void) throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        try body(ends[1])
    }

    @Test func widePipeTakesAllAtOnce() throws {
        try withPipe { writing in
            #expect(PromptWrite.widenPipe(writing, to: 256 << 10) == 256 << 10)
            let bytes = [UInt8](repeating: 7, count: 300 << 10)
            #expect(PromptWrite.write(bytes, to: writing) == 256 << 10)
        }
    }

    @Test func widerPipeStaysAsItIs() throws {
        try withPipe { writing in
            #expect(PromptWrite.widenPipe(writing, to: 256 << 10) == 256 << 10)
            #expect(PromptWrite.widenPipe(writing, to: 64 << 10) == 256 << 10)
        }
    }

    @Test func whatTheSystemRefusesIsLeftOut() throws {
        try withPipe { writing in
            let usual = try #require(PromptWrite.widenPipe(writing, to: 1))
            #expect(PromptWrite.widenPipe(writing, to: .max) == usual)
        }
    }

    @Test func fileIsNoPipe() throws {
        let folder = try TemporaryFolder()
        let file = open(folder.path + "/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        #expect(PromptWrite.widenPipe(file, to: 256 << 10) == nil)
    }
}
