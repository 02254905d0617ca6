import RelayCore
import RelayJournal
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ContractTests {
    @Test(arguments: JournalContract.cases)
    func theMemoryJournalKeepsIt(_ contractCase: JournalContract.Case) async throws {
        try await contractCase.run { MemoryJournal(plan: $0, limits: $1, bounds: $2) }
    }
}
