/// Counts what may come often and says when to tell of it: the first time, and each time the count has doubled.
package struct ThinnedCount: Sendable, Equatable {
    /// How often it came.
    package private(set) var count = 0

    /// Creates a count of nothing.
    package init() {}

    /// Counts one more; returns whether it is to be told.
    package mutating func add() -> Bool {
        count += 1
        return Self.isTold(count)
    }

    /// Whether the thing numbered `count`, from 1, is to be told.
    package static func isTold(_ count: Int) -> Bool {
        count & (count - 1) == 0
    }
}
