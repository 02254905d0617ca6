import Glibc
import Testing

/// A data race that is meant: `contrib/sanitize thread` runs it alone, and demands that the sanitizer reports it.
@Suite(.enabled(if: getenv("CHIRP_RELAY_DELIBERATE_RACE") != nil, "it is a mistake, made for the thread sanitizer"))
struct DeliberateRaceTests {
    /// What both threads write, without a lock.
    private final class Racer {
        var count = 0
    }

    @Test func unlockedWritesOfTwoThreadsAreReported() {
        let racer = Racer()
        let threads = (0..<2).map { _ in
            var thread = pthread_t()
            pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<Racer>.fromOpaque(argument).takeUnretainedValue().count += 1
                    return nil
                }, Unmanaged.passUnretained(racer).toOpaque())
            return thread
        }
        for thread in threads { pthread_join(thread, nil) }
        #expect(racer.count > 0)
    }
}
