import GLibRuntime
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct UnixSignalsTests {
    @Test(arguments: [(SIGTERM, UnixSignal.terminate), (SIGINT, .interrupt), (SIGHUP, .hangup)])
    func raisedSignalArrives(number: Int32, expected: UnixSignal) async {
        let signals = UnixSignals()
        kill(getpid(), number)
        var iterator = signals.stream.makeAsyncIterator()
        // Suites run side by side, so another case's signal may come first.
        while let signal = await iterator.next(), signal != expected {}
        withExtendedLifetime(signals) {}
    }

    @Test func brokenPipeIsAnError() {
        ProcessSignals.ignoreBrokenPipe()
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        #expect(write(ends[1], "x", 1) == -1)
        #expect(errno == EPIPE)
        close(ends[1])
    }
}
