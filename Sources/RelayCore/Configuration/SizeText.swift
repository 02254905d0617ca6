/// Sizes as people write them: `200MB`, `64kB`, `512B`; units are powers of a thousand.
package enum SizeText {
    private static let units: [(name: String, bytes: Int)] = [
        ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("B", 1),
    ]

    /// Returns the size in bytes, or nil if `text` is none: a whole number with one unit.
    package static func parse(_ text: String) -> Int? {
        for unit in units where text.hasSuffix(unit.name) {
            let digits = text.dropLast(unit.name.count)
            guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let number = Int(digits)
            else { return nil }
            let (bytes, overflow) = number.multipliedReportingOverflow(by: unit.bytes)
            return overflow ? nil : bytes
        }
        return nil
    }

    /// Writes a size so that `parse` gives it back, in the largest unit that needs no fraction.
    package static func format(_ bytes: Int) -> String {
        let unit = units.first { bytes > 0 && bytes % $0.bytes == 0 }
        return unit.map { "\(bytes / $0.bytes)\($0.name)" } ?? "\(bytes)B"
    }
}
