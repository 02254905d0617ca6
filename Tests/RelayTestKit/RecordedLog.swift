internal import GLibRuntime
package import RelayCore

/// Keeps every diagnostic, down to `trace`, for tests to look at and to await.
package final class RecordedLog: Sendable {
    private struct Watcher {
        var number: Int
        var isWanted: @Sendable (Log.Entry) -> Bool
        var continuation: CheckedContinuation<Log.Entry, Never>
    }

    /// What a wait returns that was cancelled, such as by the time limit of a test.
    private static let nothing = Log.Entry(level: .error, room: "test", message: "nothing came")

    private struct State {
        var entries: [Log.Entry] = []
        var watchers: [Watcher] = []
        var watcherCount = 0
    }

    private let state = Locked(State())

    /// Creates an empty record.
    package init() {}

    /// The log that writes here.
    package var log: Log {
        Log(level: .trace) { [self] entry in record(entry) }
    }

    /// Everything so far.
    package var entries: [Log.Entry] { state.withLock { $0.entries } }

    /// Everything so far as text.
    package var text: String {
        entries.map { entry in
            "\(entry.level) \(entry.room) \(entry.message) "
                + entry.fields.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
        }.joined(separator: "\n")
    }

    /// Returns the first entry, past or to come, whose message or fields contain `text`; one that says "nothing came" if
    /// the task is cancelled before.
    package func first(containing text: String) async -> Log.Entry {
        await first { entry in
            entry.message.contains(text) || entry.fields.contains { $0.value.contains(text) }
        }
    }

    /// Returns the first entry, past or to come, that is wanted; one that says "nothing came" if the task is cancelled.
    package func first(where isWanted: @escaping @Sendable (Log.Entry) -> Bool) async -> Log.Entry {
        let number = state.withLock { state in
            state.watcherCount += 1
            return state.watcherCount
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let found = state.withLock { state in
                    let found = Task.isCancelled ? Self.nothing : state.entries.first(where: isWanted)
                    if found == nil {
                        state.watchers.append(
                            Watcher(number: number, isWanted: isWanted, continuation: continuation))
                    }
                    return found
                }
                if let found { continuation.resume(returning: found) }
            }
        } onCancel: {
            let watcher = state.withLock { state in
                state.watchers.firstIndex { $0.number == number }.map { state.watchers.remove(at: $0) }
            }
            watcher?.continuation.resume(returning: Self.nothing)
        }
    }

    private func record(_ entry: Log.Entry) {
        let woken = state.withLock { state in
            state.entries.append(entry)
            let woken = state.watchers.filter { $0.isWanted(entry) }
            state.watchers.removeAll { $0.isWanted(entry) }
            return woken
        }
        for watcher in woken { watcher.continuation.resume(returning: entry) }
    }
}
