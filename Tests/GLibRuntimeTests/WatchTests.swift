import GLibRuntime
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct WatchTests {
    @Test func creationWriteAndReplacementAreNoticed() async throws {
        let folder = try TemporaryFolder()
        let changed = Published<Void>()
        let watch = FileWatch(path: folder.file("rules.json")) { changed.publish(()) }
        #expect(watch.failure == nil)

        try folder.write("1", to: "rules.json")
        #expect(await changed.next() != nil)
        try folder.write("2", to: "rules.json")
        #expect(await changed.next() != nil)
        try folder.write("3", to: "new")
        #expect(rename(folder.file("new"), folder.file("rules.json")) == 0)
        #expect(await changed.next() != nil)
        #expect(unlink(folder.file("rules.json")) == 0)
        #expect(await changed.next() != nil)
        withExtendedLifetime((watch, folder)) {}
    }

    @Test func clockWatchArmsAndStaysSilentWhileTheClockRuns() async throws {
        let set = Published<Bool>()
        let watch = WallClockWatch { set.publish(true) }
        #expect(watch.isWatching)
        let timer = LoopTimer { _ in set.publish(false) }
        timer.schedule(after: .milliseconds(20))
        #expect(await set.next() == false)
        withExtendedLifetime(watch) {}
    }

    @Test func networkWatchIsMadeWithoutWaiting() {
        let start = ContinuousClock.now
        let watch = NetworkWatch {}
        #expect(ContinuousClock.now - start < .seconds(5))
        #expect(watch.isWatching)
        withExtendedLifetime(watch) {}
    }
}
