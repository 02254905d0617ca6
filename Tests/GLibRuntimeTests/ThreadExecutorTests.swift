import GLibRuntime
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ThreadExecutorTests {
    /// An actor on a thread of its own.
    private actor Counter {
        private nonisolated let executor = ThreadExecutor(name: "counter")
        private(set) var count = 0
        private var threads: Set<UInt> = []

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        /// Counts, and returns how many threads it was seen on.
        func add() -> Int {
            assertIsolated()
            count += 1
            threads.insert(UInt(pthread_self()))
            return threads.count
        }

        func callBack(_ body: @Sendable () async -> Void) async -> Int {
            await body()
            return add()
        }
    }

    @Test func allJobsRunOnOneThreadInTurn() async {
        let counter = Counter()
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<1000 { group.addTask { await counter.add() } }
            for await threads in group { #expect(threads == 1) }
        }
        #expect(await counter.count == 1000)
    }

    @Test func anActorThatAwaitsComesBackToItsThread() async {
        let counter = Counter()
        _ = await counter.add()
        #expect(await counter.callBack { await Task.yield() } == 1)
    }

    @Test func theThreadEndsWithItsActor() async throws {
        for _ in 0..<200 {
            let counter = Counter()
            _ = await counter.add()
        }
        var names: [String] = []
        // A thread needs a moment to end after its executor; two hundred do not stay.
        for _ in 0..<1000 where names.isEmpty || names.count > 100 {
            names = Self.threads.filter { $0 == "counter" }
            await Task.yield()
        }
        #expect(names.count <= 100)
    }

    private static var threads: [String] {
        guard let folder = opendir("/proc/self/task") else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let id = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let file = fopen("/proc/self/task/\(id)/comm", "r") else { continue }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 32)
            let count = fread(&bytes, 1, bytes.count, file)
            names.append(String(decoding: bytes.prefix(count).prefix { $0 != 10 }, as: UTF8.self))
        }
        return names
    }
}
