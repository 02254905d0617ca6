internal import GLibRuntime
internal import RelayCore

/// Rows in aligned columns, for people.
enum TextTable {
    /// Returns a header and its rows, two spaces between columns; the last column is as long as it is.
    static func text(_ header: [String], _ rows: [[String]]) -> String {
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            row.indices.map { $0 == row.count - 1 ? row[$0] : row[$0].padded(to: widths[$0]) }.joined(separator: "  ")
        }
        .joined(separator: "\n")
    }
}

extension String {
    /// The text with spaces behind it up to a width in characters.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

extension LocalTime {
    /// An instant as people see it: date and minute in the system's zone.
    static func shown(_ instant: Instant) -> String { dateAndMinute(ofMilliseconds: instant.milliseconds) }
}

extension DurationText {
    /// A duration in its largest unit, rounded down: `3h`, `12s`.
    static func rough(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        for (unit, length) in [("d", 86_400), ("h", 3600), ("m", 60)] as [(String, Int64)] where seconds >= length {
            return "\(seconds / length)\(unit)"
        }
        return "\(seconds)s"
    }
}
