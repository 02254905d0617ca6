import GLibRuntime
import RelayCore
import RelayJournal
import Testing

@Suite(.timeLimit(.minutes(2)))
struct ContractTests {
    @Test(arguments: JournalContract.cases + JournalContract.endings)
    func theMemoryJournalKeepsIt(_ contractCase: JournalContract.Case) async throws {
        try await contractCase.run { MemoryJournal(plan: $0, limits: $1, bounds: $2) }
    }

    @Test(arguments: JournalContract.cases)
    func theSQLiteJournalKeepsIt(_ contractCase: JournalContract.Case) async throws {
        let folders = Locked<[JournalFolder]>([])
        try await contractCase.run {
            let folder = try JournalFolder()
            folders.withLock { $0.append(folder) }
            return try await folder.open($0, limits: $1, bounds: $2).journal
        }
    }

    @Test(arguments: JournalContract.cases)
    func theSQLiteJournalKeepsItOverRestarts(_ contractCase: JournalContract.Case) async throws {
        try await contractCase.run { try await ReopenedJournal($0, $1, $2) }
    }
}
