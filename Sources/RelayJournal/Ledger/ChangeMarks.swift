/// The keys of a table whose rows changed since the marks were last taken.
///
/// Only a ledger with a disk behind it asks for them; else they are off, and marking is one look at a nil.
struct ChangeMarks<Key: Hashable & Sendable>: Sendable {
    /// How much of each changed key was as it is when it was marked first; nil if the marks are off.
    private var marks: [Key: Int]?

    /// Creates marks of nothing.
    init(areOn: Bool = false) {
        marks = areOn ? [:] : nil
    }

    /// Whether anything is marked.
    var isEmpty: Bool { marks?.isEmpty ?? true }

    /// Marks a key, before its row changes; of what only grows, `since` says how long it was then.
    mutating func mark(_ key: Key, since count: Int = 0) {
        if marks == nil || marks?[key] != nil { return }
        marks?[key] = count
    }

    /// Takes all marks: the keys, and how long each one's list was when it was marked.
    mutating func take() -> [Key: Int] {
        guard let taken = marks, !taken.isEmpty else { return [:] }
        marks = [:]
        return taken
    }
}
