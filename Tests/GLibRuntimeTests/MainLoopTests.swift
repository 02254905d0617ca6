import GLibRuntime
import Glibc
import Testing

private actor OwnThread {
    static let executor = MainLoopExecutor(name: "own-thread")
    nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

    func threadID() -> Int { Int(bitPattern: pthread_self()) }
    func isIsolated() -> Bool {
        Self.executor.checkIsolated()
        return Self.executor.isIsolatingCurrentContext() == true
    }
}

@MainLoop private func loopThreadID() -> Int { Int(bitPattern: pthread_self()) }

@Suite(.timeLimit(.minutes(1)))
struct MainLoopTests {
    @Test func jobsRunOnOneThread() async {
        let first = await loopThreadID()
        for _ in 0..<100 { #expect(await loopThreadID() == first) }
    }

    @Test @MainLoop func loopKnowsItsThread() {
        #expect(MainLoop.executor.isIsolatingCurrentContext() == true)
        MainLoop.executor.checkIsolated()
        #expect(MainLoop.assumeIsolated { loopThreadID() } == Int(bitPattern: pthread_self()))
    }

    @Test func otherThreadsAreNotIsolated() {
        #expect(MainLoop.executor.isIsolatingCurrentContext() == false)
    }

    @Test func secondExecutorHasThreadOfItsOwn() async {
        let actor = OwnThread()
        let thread = await actor.threadID()
        #expect(thread != (await loopThreadID()))
        for _ in 0..<100 { #expect(await actor.threadID() == thread) }
        #expect(await actor.isIsolated())
        #expect(await actor.isIsolated())
    }

    @Test func postedClosuresRunInOrderOnLoop() async {
        let thread = await loopThreadID()
        let published = Published<(Int, Int)>()
        for index in 0..<50 { MainLoop.post { published.publish((index, loopThreadID())) } }
        for index in 0..<50 {
            let value = await published.next()
            #expect(value?.0 == index)
            #expect(value?.1 == thread)
        }
    }

    @Test func manyTasksAllRun() async {
        let count = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1000 {
                group.addTask { @MainLoop in count.withLock { $0 += 1 } }
            }
        }
        #expect(count.withLock { $0 } == 1000)
    }
}
