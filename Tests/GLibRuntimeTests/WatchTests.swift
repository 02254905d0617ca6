import GLibRuntime
import Glibc
import RelayTestKit
import Testing

@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct WatchTests {
    @Test func creationWriteAndReplacementAreNoticed() async throws {
        let folder = try TemporaryFolder()
        let changed = Published<Void>()
        let watch = FileWatch(path: folder.file("rules.json")) { changed.publish(()) }
        #expect(watch.failure == nil)

        folder.write("rules.json", "1")
        #expect(await changed.next() != nil)
        folder.write("rules.json", "2")
        #expect(await changed.next() != nil)
        folder.write("new", "3")
        #expect(rename(folder.file("new"), folder.file("rules.json")) == 0)
        #expect(await changed.next() != nil)
        #expect(unlink(folder.file("rules.json")) == 0)
        #expect(await changed.next() != nil)
        withExtendedLifetime((watch, folder)) {}
    }

    @Test func theTargetOfALinkAndALinkThatTurnsAreNoticed() async throws {
        let folder = try TemporaryFolder()
        folder.write("first.json", "1")
        folder.write("second.json", "1")
        #expect(symlink("first.json", folder.file("rules.json")) == 0)
        let changed = Published<Void>()
        let watch = FileWatch(path: folder.file("rules.json")) { changed.publish(()) }

        folder.write("first.json", "2")
        #expect(await changed.next() != nil)
        #expect(symlink("second.json", folder.file("new")) == 0)
        #expect(rename(folder.file("new"), folder.file("rules.json")) == 0)
        #expect(await changed.next() != nil)
        folder.write("second.json", "3")
        #expect(await changed.next() != nil)
        withExtendedLifetime((watch, folder)) {}
    }

    @Test func aFolderThatIsALinkAndTurnsIsNoticed() async throws {
        let folder = try TemporaryFolder()
        for name in ["one", "two"] {
            #expect(mkdir(folder.file(name), 0o700) == 0)
            folder.write(name + "/rules.json", name)
        }
        #expect(symlink("one", folder.file("now")) == 0)
        let changed = Published<Void>()
        let watch = FileWatch(path: folder.file("now/rules.json")) { changed.publish(()) }
        #expect(symlink("two", folder.file("new")) == 0)
        #expect(rename(folder.file("new"), folder.file("now")) == 0)
        #expect(await changed.next() != nil)
        for name in ["one", "two"] {
            unlink(folder.file(name + "/rules.json"))
            rmdir(folder.file(name))
        }
        withExtendedLifetime(watch) {}
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
