import GLibRuntime
import RelayCore
import RelayTestKit
import Testing

@testable import RelayApp

/// What is saved of a stream never passes what a crash could still lose.
struct FlowProgressTests {
    private func batch(_ ids: String...) -> EventBatch {
        var batch = EventBatch(stream: "s")
        for id in ids { batch.append(Fixtures.event(id: id)) }
        return batch
    }

    @Test func waitsForCommitsAndLines() throws {
        var progress = FlowProgress(saved: StreamProgress(stream: "s"))
        progress.add(live: batch("a", "b"), recorded: 1)
        progress.mark(at: FlowProgress.Position(intakes: 1, lines: 1))
        #expect(progress.take(before: FlowProgress.Position(intakes: 0, lines: 9)) == nil)
        #expect(progress.take(before: FlowProgress.Position(intakes: 9, lines: 0)) == nil)
        let all = progress.take(before: FlowProgress.Position(intakes: 1, lines: 1))
        let taken = try #require(all)
        #expect(taken.seen.count == 2 && taken.unrecorded == 1)
        #expect(taken.cursor?.id == UntrustedText("b"))
        #expect(progress.isEmpty && progress.take(before: FlowProgress.Position(intakes: 9, lines: 9)) == nil)
    }

    @Test func aLaterReadDoesNotGoBeforeAnEarlierOne() {
        var progress = FlowProgress(saved: StreamProgress(stream: "s"))
        progress.add(live: batch("a"), recorded: 0)
        progress.mark(at: FlowProgress.Position(intakes: 0, lines: 5))
        progress.add(live: batch("b"), recorded: 1)
        progress.mark(at: FlowProgress.Position(intakes: 1, lines: 5))
        #expect(progress.take(before: FlowProgress.Position(intakes: 1, lines: 4)) == nil)
        #expect(progress.take(before: FlowProgress.Position(intakes: 0, lines: 5))?.cursor?.id == UntrustedText("a"))
        #expect(progress.take(before: FlowProgress.Position(intakes: 1, lines: 5))?.cursor?.id == UntrustedText("b"))
    }

    @Test func keepsNoMoreIDsThanAreSaved() throws {
        var progress = FlowProgress(saved: StreamProgress(stream: "s"))
        let read = batch("a", "b", "c", "d")
        for _ in 0..<(StreamProgress.mostSeen) {
            progress.add(live: read, recorded: 0)
            progress.mark(at: FlowProgress.Position(intakes: 0, lines: 0))
        }
        let all = progress.take(before: FlowProgress.Position(intakes: 0, lines: 0))
        let taken = try #require(all)
        #expect(taken.seen.count == StreamProgress.mostSeen)
        #expect(taken.unrecorded == 4 * StreamProgress.mostSeen)
    }
}
