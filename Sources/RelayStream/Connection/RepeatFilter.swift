package import RelayCore

/// Thins diagnostics that repeat: the first of a text is told, further ones are counted and told now and then.
package struct RepeatFilter: Sendable, Equatable {
    /// What to do with a text.
    package enum Verdict: Sendable, Equatable {
        /// Tell it; it stood `repeats` more times since it was last told.
        case tell(repeats: Int)
        /// Keep it for the level `debug`.
        case hush
    }

    private let every: Duration
    private var text: String?
    private var toldAt: Instant
    private var repeats = 0

    /// Creates a filter that tells the same text at most once in `every`.
    package init(every: Duration = .seconds(600)) {
        self.every = every
        toldAt = Instant(milliseconds: .min)
    }

    /// Says whether `text` is to be told at `now`.
    package mutating func verdict(on text: String, at now: Instant) -> Verdict {
        guard text == self.text, now - toldAt < every else {
            let repeats = text == self.text ? self.repeats : 0
            self = RepeatFilter(every: every)
            self.text = text
            toldAt = now
            return .tell(repeats: repeats)
        }
        if repeats < .max { repeats += 1 }
        return .hush
    }

    /// Forgets what was told, since something else happened in between.
    package mutating func forget() {
        self = RepeatFilter(every: every)
    }
}
