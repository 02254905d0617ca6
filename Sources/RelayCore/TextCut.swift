/// Cuts text for showing, on grapheme borders.
package enum TextCut {
    /// The most Unicode scalars kept of one grapheme: real ones have up to 14 (a flag of a region, a family), while
    /// a chain of joiners can be of any length.
    private static let longestGrapheme = 32

    /// Returns `string` cut to `max` graphemes and `lines` lines, including the ellipsis that marks a cut.
    ///
    /// Of combining marks, at most `marks` are kept on each base character, without an ellipsis. What lies behind
    /// the cut is not read.
    package static func graphemes(
        _ string: String, max: Int, lines: Int = .max, marks: Int = .max
    ) -> String {
        guard max > 0, lines > 0 else { return "" }
        var kept = ""
        var count = 0
        var newlines = 0
        /// Where the grapheme kept last begins, which gives its place to the ellipsis if there is no room for both.
        var lastStart = 0
        var index = string.startIndex
        while index < string.endIndex {
            let character = string[index]
            index = string.index(after: index)
            if character.isNewline { newlines += 1 }
            if newlines >= lines {
                if index == string.endIndex { return kept }
                return ellipsis(after: kept, upTo: count < max ? kept.utf8.count : lastStart)
            }
            if count == max { return ellipsis(after: kept, upTo: lastStart) }
            lastStart = kept.utf8.count
            append(character, marks: marks, to: &kept)
            count += 1
        }
        return kept
    }

    private static func ellipsis(after text: String, upTo byteCount: Int) -> String {
        String(decoding: text.utf8.prefix(byteCount), as: UTF8.self) + "…"
    }

    private static func append(_ character: Character, marks: Int, to text: inout String) {
        var marksSeen = 0
        for scalar in character.unicodeScalars.prefix(longestGrapheme) {
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .spacingMark:
                marksSeen += 1
                if marksSeen > marks { continue }
            default: marksSeen = 0
            }
            text.unicodeScalars.append(scalar)
        }
    }
}
