/// Reads instants as `TimestampText.parse` does, and remembers the day of the last one: those of a stream mostly share it.
package struct TimestampReader: Sendable {
    /// The first ten bytes, such as `2030-01-02`, of the text of the day that is remembered.
    private var yearAndMonth: UInt64 = 0
    private var dayOfMonth: UInt16 = 0
    /// That day, counted from 1970-01-01.
    private var day = 0

    /// Creates a reader.
    package init() {}

    /// Returns the instant that `text` names, or nil if it is no date and time with an offset.
    package mutating func parse(_ text: RawSpan) -> Instant? {
        guard let time = TimestampText.usualTime(text), remember(text) else { return TimestampText.parse(text) }
        return Instant(milliseconds: Int64(day * 86_400_000 + time))
    }

    /// Remembers the day with which the text begins; returns false, and does not, if there is none.
    @inline(__always)
    private mutating func remember(_ text: RawSpan) -> Bool {
        let yearAndMonth = TimestampText.word(text, 0)
        let dayOfMonth = text.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt16.self)
        if (yearAndMonth, dayOfMonth) == (self.yearAndMonth, self.dayOfMonth) { return true }
        guard let day = TimestampText.usualDay(text) else { return false }
        (self.yearAndMonth, self.dayOfMonth, self.day) = (yearAndMonth, dayOfMonth, day)
        return true
    }
}
