import RelayCore
import RelayJournal

/// What every journal must do, as cases that are given a way to make one.
struct JournalContract {
    /// Makes an empty journal with a plan in force.
    typealias Make = @Sendable (EffectPlan, OutboxShare.Limits, LedgerBounds) async throws -> any Journal

    /// One case.
    struct Case: Sendable, CustomStringConvertible {
        /// What it states.
        let description: String
        /// Tests it of a journal.
        let run: @Sendable (Make) async throws -> Void

        init(_ description: String, _ run: @escaping @Sendable (Make) async throws -> Void) {
            self.description = description
            self.run = run
        }
    }

    /// All cases.
    static let cases: [Case] =
        limits + digests + firstNow + slots + holds + keys + silences + reloads + bounds + claims
        + claimCounts + order + backlogs + foldedGroups + deadLetters + moves + ages + full
}
