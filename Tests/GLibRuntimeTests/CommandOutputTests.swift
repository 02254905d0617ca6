import GLibRuntime
import Glibc
import RelayTestKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CommandOutputTests {
    private func fault(
        _ words: [String], timeout: Duration = .seconds(20), limit: Int = 1000
    ) async -> CommandOutput.Fault? {
        await #expect(throws: CommandOutput.Fault.self) {
            _ = try await CommandOutput.read(words, timeout: timeout, limit: limit)
        }
    }

    @Test func outputIsReturnedWhole() async throws {
        let output = try await CommandOutput.read(["printf", "%s", "$HOME; `x` *"], timeout: .seconds(20), limit: 1000)
        #expect(output == Array("$HOME; `x` *".utf8))
    }

    @Test func standardInputIsEmpty() async throws {
        #expect(try await CommandOutput.read(["cat"], timeout: .seconds(20), limit: 1000) == [])
    }

    @Test func failureTellsFirstWordAndStatusOnly() async {
        let fault = await fault(["sh", "-c", "echo SECRET; exit 3"])
        #expect(fault == CommandOutput.Fault(command: "sh", cause: .exited(status: 3)))
        #expect(fault?.description == "sh exited with status 3")
    }

    @Test func absentCommandIsTold() async {
        let fault = await fault(["no-such-command-here", "SECRET"])
        guard case .notStarted = fault?.cause else {
            Issue.record("\(String(describing: fault))")
            return
        }
        #expect(fault?.description.contains("SECRET") == false)
    }

    @Test func slowCommandIsKilledAtTheDeadline() async {
        let start = ContinuousClock.now
        #expect(await fault(["sleep", "50"], timeout: .milliseconds(50))?.cause == .timedOut)
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test func grandchildHoldingThePipeDoesNotHoldTheCaller() async {
        let start = ContinuousClock.now
        #expect(await fault(["sh", "-c", "sleep 5 & exit 0"], timeout: .milliseconds(50))?.cause == .timedOut)
        #expect(ContinuousClock.now - start < .seconds(4))
    }

    @Test(arguments: ["", "exec "]) func whatTheCommandStartedIsKilledWithIt(exec: String) async throws {
        let folder = try TemporaryFolder()
        let pipe = "\(folder.path)/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let descriptor = open(pipe, O_RDONLY | O_NONBLOCK)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let script = "exec 3> \(pipe); sleep 50 & \(exec)yes"
        #expect(await fault(["sh", "-c", script])?.cause == .tooLong(limit: 1000))
        // The end of the pipe comes when nobody holds its other end any more.
        var end = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&end, 1, 10_000) == 1)
        #expect(end.revents & Int16(POLLHUP) != 0)
    }

    @Test func endlessOutputIsCutOff() async {
        #expect(await fault(["yes"], limit: 100_000)?.cause == .tooLong(limit: 100_000))
    }

    @Test func killedCommandIsTold() async {
        #expect(await fault(["sh", "-c", "kill -9 $$"])?.cause == .killed(signal: 9))
    }

    @Test func commandsCanBeTerminated() async {
        #expect(await fault(["sh", "-c", "kill -TERM $$; exit 0"])?.cause == .killed(signal: 15))
    }

    @Test func noWordsAreAFault() async {
        #expect(await fault([])?.cause == .noWords)
    }

    @Test func cancelledTaskStopsTheCommand() async {
        let task = Task { try await CommandOutput.read(["sleep", "50"], timeout: .seconds(50), limit: 10) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
