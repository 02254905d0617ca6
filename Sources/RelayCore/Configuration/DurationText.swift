/// Durations as people write them: `90s`, `15m`, `1h30m`, `2d`, `250ms`.
package enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Returns the duration, or nil if `text` is none: numbers with units, largest first, each unit at most once.
    package static func parse(_ text: String) -> Duration? {
        var rest = text.utf8[...]
        var total: Int64 = 0
        var nextUnit = 0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            rest = rest.dropFirst(digits.count)
            let letters = rest.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
            rest = rest.dropFirst(letters.count)
            guard let number = Int64(String(Substring(digits))),
                let unit = units.indices.first(where: { units[$0].name == String(Substring(letters)) }),
                unit >= nextUnit
            else { return nil }
            let (product, overflow) = number.multipliedReportingOverflow(by: units[unit].milliseconds)
            let (sum, tooLong) = total.addingReportingOverflow(product)
            guard !overflow, !tooLong else { return nil }
            total = sum
            nextUnit = unit + 1
        }
        return .milliseconds(total)
    }

    /// Writes `duration` so that `parse` gives it back (to the millisecond); a negative one as its absolute value.
    package static func format(_ duration: Duration) -> String {
        var rest = duration.wholeMilliseconds.magnitude
        guard rest > 0 else { return "0s" }
        var text = ""
        for unit in units {
            let count = rest / UInt64(unit.milliseconds)
            rest %= UInt64(unit.milliseconds)
            if count > 0 { text += "\(count)\(unit.name)" }
        }
        return text
    }
}
