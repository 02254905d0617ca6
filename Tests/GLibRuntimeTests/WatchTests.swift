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

    /// Moves a folder away and another one to its place, as a deployment does.
    private func replace(_ folder: TemporaryFolder, _ name: String) {
        #expect(rename(folder.file(name), folder.file(name + "-old")) == 0)
        #expect(rename(folder.file(name + "-new"), folder.file(name)) == 0)
    }

    @Test(arguments: ["in", "in/deep"]) func aFolderThatIsReplacedIsNoticedAndWatched(_ way: String) async throws {
        let folder = try TemporaryFolder()
        let parts = way.split(separator: "/").map(String.init)
        for name in ["in", "in-new"] {
            let inner = ([name] + parts.dropFirst()).joined(separator: "/")
            #expect(mkdir(folder.file(name), 0o700) == 0)
            if inner != name { #expect(mkdir(folder.file(inner), 0o700) == 0) }
            folder.write(inner + "/rules.json", "1")
        }
        defer {
            for name in ["in", "in-old"] {
                let inner = ([name] + parts.dropFirst()).joined(separator: "/")
                unlink(folder.file(inner + "/rules.json"))
                if inner != name { rmdir(folder.file(inner)) }
                rmdir(folder.file(name))
            }
        }
        let changed = Published<Void>()
        let watch = FileWatch(path: folder.file(way + "/rules.json")) { changed.publish(()) }
        replace(folder, "in")
        #expect(await changed.next() != nil)
        // What happens in the new folder is noticed too.
        folder.write(way + "/rules.json", "2")
        #expect(await changed.next() != nil)
        withExtendedLifetime(watch) {}
    }

    /// What no event told of, as after a bind mount, is seen when somebody says so.
    @Test func aWatchIsRearmedWhenItIsAsked() async throws {
        let folder = try TemporaryFolder()
        folder.write("rules.json", "1")
        let changed = Published<Void>()
        let watch = FileWatch(path: folder.file("rules.json")) { changed.publish(()) }
        watch.rearm()
        folder.write("rules.json", "2")
        #expect(await changed.next() != nil)
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
